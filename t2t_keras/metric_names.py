"""Names of the teacher-forced evaluation metrics, as tensor2tensor spells them."""


class Metrics:
    """Metric names; `training.metrics.METRICS_FNS` computes them, problems choose among them."""

    ACC = "accuracy"
    ACC_TOP5 = "accuracy_top5"
    ACC_PER_SEQ = "accuracy_per_sequence"
    NEG_LOG_PERPLEXITY = "neg_log_perplexity"
    APPROX_BLEU = "approx_bleu_score"
    ROUGE_2_F = "rouge_2_fscore"
    ROUGE_L_F = "rouge_L_fscore"
    EDIT_DISTANCE = "edit_distance"
    RMSE = "rmse"

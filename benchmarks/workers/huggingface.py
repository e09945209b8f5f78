"""Worker: training steps of Hugging Face transformers' Marian model on PyTorch, on the CPU."""

import torch
import transformers
import worker


def main():
    """Builds the model and serves."""
    work = worker.parse_arguments(__doc__)
    torch.set_num_threads(worker.cores())
    torch.manual_seed(0)
    config = transformers.MarianConfig(
        vocab_size=work.vocabulary,
        decoder_vocab_size=work.vocabulary,
        max_position_embeddings=512,
        encoder_layers=work.layers,
        decoder_layers=work.layers,
        encoder_ffn_dim=work.filter,
        decoder_ffn_dim=work.filter,
        encoder_attention_heads=work.heads,
        decoder_attention_heads=work.heads,
        d_model=work.width,
        dropout=0.1,
        activation_function="relu",
        pad_token_id=0,
        eos_token_id=1,
        bos_token_id=2,
        decoder_start_token_id=0,
        forced_eos_token_id=None,
        share_encoder_decoder_embeddings=True,
        tie_word_embeddings=True,
        scale_embedding=True,
        static_position_embeddings=True,
    )
    model = transformers.MarianMTModel(config)
    model.train()
    optimizer = torch.optim.Adam(
        model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9, fused=True
    )
    shape = (work.sentences, work.length)
    inputs, targets = (torch.randint(3, work.vocabulary, shape) for _ in range(2))
    mask = torch.ones_like(inputs)
    start = torch.zeros(work.sentences, 1, dtype=torch.long)
    shifted = torch.cat([start, targets[:, :-1]], 1)

    def step():
        logits = model(input_ids=inputs, attention_mask=mask, decoder_input_ids=shifted).logits
        loss = torch.nn.functional.cross_entropy(
            logits.view(-1, work.vocabulary), targets.view(-1), label_smoothing=0.1
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    def peak():
        a, b = torch.randn(2048, 2048), torch.randn(2048, 2048)
        return {"torch": worker.best_gflops(lambda: a @ b)}

    worker.serve(
        step,
        peak,
        version=f"transformers {transformers.__version__}, torch {torch.__version__}",
        parameters=sum(parameter.numel() for parameter in model.parameters()),
    )


if __name__ == "__main__":
    main()

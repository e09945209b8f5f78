"""Trains a tiny model in one go and in two halves; says whether both end the same."""

import contextlib
import hashlib
import pathlib
from unittest import mock

import numpy as np

from t2t_keras.training.step import TrainStep
from tests.training import runs


@contextlib.contextmanager
def recorded(batches, traces):
    """Meanwhile adds a digest of each batch that is trained on, and the traces after each step."""
    original = TrainStep.__call__

    def call(self, *features):
        for batch in features:
            digest = hashlib.sha256()
            for name in sorted(batch):
                digest.update(batch[name].numpy().tobytes())
            batches.append(digest.hexdigest())
        result = original(self, *features)
        traces.append(self.num_traces)
        return result

    with mock.patch.object(TrainStep, "__call__", call):
        yield


def compare(folder, data_dir, steps, **settings):
    """Digests of the batches of both ways, traces of the step, and in what they differ."""
    batches, traces = {"whole": [], "halves": []}, {"whole": [], "halves": []}
    for name, ends in (("whole", [steps]), ("halves", [steps // 2, steps])):
        with recorded(batches[name], traces[name]):
            for end in ends:
                runs.train(
                    pathlib.Path(folder, name), data_dir, train_steps=end,
                    iterations_per_loop=1000, local_eval_frequency=1000, **settings,
                )  # fmt: skip
    expected, found = (runs.values_of(pathlib.Path(folder, name)) for name in batches)
    losses = [runs.losses_of(pathlib.Path(folder, name)) for name in batches]
    return {
        "batches": batches,
        "traces": traces["whole"],
        "same_losses": losses[0] == losses[1],
        "differing": [
            name
            for name in sorted(set(expected) | set(found))
            if not np.array_equal(expected.get(name), found.get(name))
        ],
        "variables": len(expected),
    }

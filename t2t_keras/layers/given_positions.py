"""Positions that come with the data: T2T's `pos=timing_from_features`."""

from collections.abc import Mapping
from typing import Any

from keras import ops

from t2t_keras.layers.positions import timing_signal_at

SIDES = ("inputs", "targets")


def split_names(text: str) -> list[str]:
    """The names in the hparam `position_features`, separated by commas or colons.

    An override of hparams can't hold a comma: there it must be colons.
    """
    return [name.strip() for name in (text or "").replace(":", ",").split(",") if name.strip()]


class GivenPositions:
    """One timing signal is added for each feature that the hparam `position_features` names.

    A feature whose name begins with `targets` is for the decoder, others are for the encoder, or
    for the decoder if there is no encoder. `inputs_position` and `targets_position`, the features
    of packed rows, count from 0 in rows that are not packed and thus have none; so only with these
    two can a model decode.

    Args:
      text: the hparam.
      has_inputs: whether there is an encoder.
      size: width of the model.
    """

    def __init__(self, text: str, has_inputs: bool, size: int) -> None:
        self.size = size
        self.names: dict[str, list[str]] = {side: [] for side in SIDES}
        for name in split_names(text):
            of_inputs = has_inputs and not name.startswith("targets")
            self.names["inputs" if of_inputs else "targets"].append(name)

    def signal(self, side: str, features: Mapping[str, Any] | None, length: Any) -> Any:
        """What to add to the vectors of a whole sequence.

        Args:
          side: one of `SIDES`.
          features: of the batch; the named ones are numbers `[batch, length]`.
          length: of the sequence.

        Returns:
          float32 `[batch or 1, length, size]`.

        Raises:
          ValueError: a named feature is missing.
        """
        signal = ops.zeros((1, length, self.size))
        for name in self.names[side]:
            if features is not None and name in features:
                positions = features[name]
            else:
                self._check_counted(name)
                positions = ops.arange(length, dtype="int32")[None]
            signal = signal + timing_signal_at(positions, self.size)
        return signal

    def signal_at(self, side: str, step: Any) -> Any:
        """What to add to the vector at position `step` while decoding: float32 `[size]`.

        Raises:
          ValueError: a named feature can't be known.
        """
        signal = ops.zeros((self.size,))
        for name in self.names[side]:
            self._check_counted(name)
            signal = signal + timing_signal_at(step, self.size)
        return signal

    @staticmethod
    def _check_counted(name: str) -> None:
        counted = [f"{side}_position" for side in SIDES]
        if name not in counted:
            raise ValueError(
                f"pos=timing_from_features needs the feature {name!r} of hparam position_features "
                "in every batch, and in decoding there are none: only "
                f"{' and '.join(counted)} are counted where they are missing. Received: no {name}"
            )

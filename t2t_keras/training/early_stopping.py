"""Stopping when a metric no longer improves."""

import dataclasses
from collections.abc import Sequence

__all__ = ["EarlyStopping"]


@dataclasses.dataclass(frozen=True)
class EarlyStopping:
    """When to stop: T2T's rule of a plateau (`utils.metrics_hook`).

    Let k be the last evaluation at or before `last step - num_steps`. It is a plateau if no
    evaluation since k is better than k by `delta` or more. A value that is no number is not better.

    T2T's trainer looks for the values where none of its schedules writes them and so never stops;
    here they are those of the run's own evaluations.

    Attributes:
        tag: name of the result that counts, as evaluations report it.
        num_steps: training steps without an improvement.
        delta: the least difference that counts as an improvement.
        minimize: whether smaller values are better.
    """

    tag: str
    num_steps: int
    delta: float = 0.1
    minimize: bool = True

    def is_plateau(self, points: Sequence[tuple[int, float]]) -> bool:
        """Whether the metric hasn't improved.

        Args:
            points: step and value of every evaluation, in the order of steps.
        """
        start = self._start(points)
        if start is None:
            return False
        reference = points[start][1]
        sign = 1.0 if self.minimize else -1.0
        # Not "< delta" as in the formula: comparisons with NaN are false.
        return not any(sign * (reference - value) >= self.delta for _, value in points[start:])

    def _start(self, points: Sequence[tuple[int, float]]) -> int | None:
        """Index of evaluation k, None if the run is too young."""
        if len(points) < 2:
            return None
        last_step = points[-1][0]
        old = [i for i, (step, _) in enumerate(points) if step <= last_step - self.num_steps]
        return old[-1] if old else None

    def describe(self) -> str:
        """The rule in words."""
        change = "fallen" if self.minimize else "risen"
        return f"{self.tag} hasn't {change} by {self.delta:g} or more for {self.num_steps} steps"

    def explain(self, points: Sequence[tuple[int, float]]) -> str:
        """Why it is a plateau, in words; only of points that are one."""
        start = self._start(points)
        if start is None:
            raise ValueError(f"No plateau. Received: {len(points)} evaluations")
        step, value = points[start]
        since = [v for _, v in points[start + 1 :]]
        best = min(since) if self.minimize else max(since)
        return f"{self.describe()}: {value:.6g} at step {step}, at best {best:.6g} since"

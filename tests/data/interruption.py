"""Runs that are killed at a certain moment, within a test."""


class Killed(BaseException):
    """In place of the end of the process: nothing in the code catches it."""


def kill_at_call(patch, place, name, num_calls):
    """Lets the function `place.name` be called so often; at the next call the run is killed.

    Returns:
        List of the calls' arguments, which grows.
    """
    original, done = getattr(place, name), []

    def call(*arguments):
        if len(done) == num_calls:
            raise Killed
        done.append(arguments)
        return original(*arguments)

    patch.setattr(place, name, call)
    return done

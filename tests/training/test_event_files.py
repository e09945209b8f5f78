from t2t_keras.training.event_files import EventWriter, read_events, truncate_after


def write(directory, steps, first_step=0):
    writer = EventWriter(str(directory), first_step)
    for step in steps:
        writer.scalars(step, {"loss": step / 100})
    writer.close()


def steps_of(directory):
    return [step for step, _, _ in read_events(str(directory))]


def test_written_values_are_read_back(tmp_path):
    write(tmp_path, [100, 200])
    assert [(s, t) for s, t, _ in read_events(str(tmp_path))] == [(100, "loss"), (200, "loss")]


def test_a_killed_run_that_goes_on_has_every_step_once(tmp_path):
    write(tmp_path, [100, 200, 300, 400])  # killed after 400, last checkpoint at 200
    truncate_after(str(tmp_path), 200)
    write(tmp_path, [300, 400, 500], first_step=200)
    assert steps_of(tmp_path) == [100, 200, 300, 400, 500]


def test_a_torn_record_is_removed(tmp_path):
    write(tmp_path, [100, 200])
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:-3])
    truncate_after(str(tmp_path), 200)
    assert steps_of(tmp_path) == [100]
    size = path.stat().st_size
    truncate_after(str(tmp_path), 200)
    assert path.stat().st_size == size


def test_tensorflow_reads_the_file(tmp_path):
    import tensorflow as tf

    write(tmp_path, [100])
    (path,) = tmp_path.iterdir()
    events = list(tf.compat.v1.train.summary_iterator(str(path)))
    assert events[0].file_version == "brain.Event:2"
    assert events[-1].step == 100 and events[-1].summary.value[0].tag == "loss"


def test_no_values_no_file(tmp_path):
    write(tmp_path / "empty", [])
    assert not (tmp_path / "empty").exists()

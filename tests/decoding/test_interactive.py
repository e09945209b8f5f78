from t2t_keras.decoding.interactive import decode_interactively
from tests.decoding.test_translator import greedy_text, make_translator


def talk(translator, lines):
    """What is shown in answer to `lines`, and the prompts."""
    shown, prompts, rest = [], [], iter(lines)

    def read_line(prompt):
        prompts.append(prompt)
        try:
            return next(rest)
        except StopIteration:
            raise EOFError from None

    decode_interactively(translator, read_line, shown.append)
    return shown, prompts


def test_texts_are_decoded_until_q():
    shown, prompts = talk(
        make_translator("beam_size=1,extra_length=6"), ["one", "two", "q", "three"]
    )
    assert shown == [greedy_text("one", 6), greedy_text("two", 6)]
    assert len(prompts) == 3
    assert all(prompt.endswith("\n>") for prompt in prompts)


def test_commands():
    shown, prompts = talk(
        make_translator("beam_size=1,extra_length=6"), ["ns=2", "dl=1", "one", "it=text"]
    )
    assert shown == [greedy_text("one", 1)] * 2
    assert "num_samples=2" in prompts[-1] and "decode_length=1" in prompts[-1]


def test_wrong_commands_change_nothing():
    shown, prompts = talk(make_translator("beam_size=1"), ["ns=x", "dl=-1", "it=image"])
    assert len(shown) == 3 and all("Received" in line for line in shown)
    assert len(set(prompts)) == 1


def test_beams_and_ids():
    shown, _ = talk(make_translator("beam_size=2,return_beams=True,identity_output=True"), ["one"])
    assert [shown[0], shown[2]] == ["BEAM 0:", "BEAM 1:"]
    ids, score = shown[1].split("\tScore:")
    assert all(item.isdigit() for item in ids.strip('"').split())
    assert float(score) < 0


def test_closed_standard_input_is_the_end():
    def read_line(prompt):
        raise RuntimeError("input(): lost sys.stdin")

    shown = []
    decode_interactively(make_translator("beam_size=1"), read_line, shown.append)
    assert shown == []

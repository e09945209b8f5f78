"""Decoding what is typed: `t2t-decoder --decode_interactive`."""

from __future__ import annotations

from collections.abc import Callable

from t2t_keras.decoding.translator import Hypothesis, Translator


def decode_interactively(
    translator: Translator,
    read_line: Callable[[str], str] = input,
    write_line: Callable[[str], object] = print,
) -> None:
    """Asks for texts and shows what the model makes of them, until `q` or the end of the input.

    Args:
        translator: the model and its decode hparams. `num_samples` is how often a text is decoded,
            which makes a difference only in sampling; `extra_length` how much longer than its input
            an output may be.
        read_line: shows a prompt and returns a line; raises EOFError, or RuntimeError, at the end.
        write_line: shows a line.
    """
    options = translator.options
    num_samples = max(1, options.num_samples)
    while True:
        try:
            line = read_line(_prompt(translator, num_samples))
        except (EOFError, RuntimeError):
            # Python calls a closed standard input a RuntimeError.
            return
        if line == "q":
            return
        if line.startswith("ns="):
            num_samples = _number(line, num_samples, write_line)
        elif line.startswith("dl="):
            extra_length = _number(line, options.extra_length, write_line)
            options.set_hparam("extra_length", extra_length)
        elif line.startswith("it="):
            if line[3:] != "text":
                write_line(f"The only input type is text. Received: {line[3:]!r}")
        else:
            ids = translator.encode(line)
            for hypotheses in translator.translate_ids([ids] * num_samples):
                _show(translator, hypotheses, write_line)


def _prompt(translator: Translator, num_samples: int) -> str:
    what = "source string" if translator.has_inputs else "target prefix"
    return (
        f"INTERACTIVE MODE  num_samples={num_samples}  "
        f"decode_length={translator.options.extra_length}\n"
        "  it=<input_type>     ('text')\n"
        "  ns=<num_samples>    (changes the number of samples)\n"
        "  dl=<decode_length>  (changes the decode length)\n"
        f"  <{what}>     (decodes it)\n"
        "  q                   (quits)\n"
        ">"
    )


def _number(command: str, present: int, write_line: Callable[[str], object]) -> int:
    """The positive number of a command like `ns=3`; the present one, and a word, if it is none."""
    text = command[3:].strip()
    if text.isdigit() and int(text) > 0:
        return int(text)
    write_line(f"A positive number is needed after {command[:3]} Received: {text!r}")
    return present


def _show(
    translator: Translator, hypotheses: list[Hypothesis], write_line: Callable[[str], object]
) -> None:
    for number, hypothesis in enumerate(hypotheses):
        text = hypothesis.text
        if translator.options.identity_output:
            text = " ".join(map(str, hypothesis.ids))
        if translator.options.return_beams:
            write_line(f"BEAM {number}:")
            write_line(f'"{text}"\tScore:{hypothesis.score:f}')
        else:
            write_line(text)

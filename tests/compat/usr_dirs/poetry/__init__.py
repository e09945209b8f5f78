from . import poetry_lines

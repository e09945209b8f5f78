from . import my_model, my_problem

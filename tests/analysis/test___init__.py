import pkgutil

import kerazoo.analysis


def test_no_public_name_is_that_of_a_module():
    """Importing the module would put it in the place of the function."""
    modules = {module.name for module in pkgutil.iter_modules(kerazoo.analysis.__path__)}
    assert modules and not modules & set(kerazoo.analysis.__all__)

"""From a task to a folder that stock TensorFlow Serving serves, and the proof that it does.

The modules are imported by name, as each of them needs TensorFlow only when it is used:
``saved_model`` writes a version folder, ``warmup`` its warm-up file, ``verify`` says whether a
server would serve it, ``model_server_config`` writes the server's configuration files.
"""

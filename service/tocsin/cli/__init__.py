"""The command line: a file, or a folder with its `command`, for each; `commands` names them all.

What most of them share stands beside them: session (configuration, store, time), sources and target (what is read and
written), output, asking, steps, times, sizes and numbers (what a person sees and types).
"""

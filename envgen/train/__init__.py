"""The trainer: rollouts of a policy in sandboxes, and DPPO on what it sampled there.

Read in this order: `loss` (the objective), `batch` (groups, advantages, what is left out),
`scoring`, `ranks` and `policy` (the model that is trained), `inference` (the model that samples),
`rollouts` (groups of episodes while the trainer steps), `chat` (conversations in ids), `tasks`
(what is trained on), `episodes` (from the sandbox to tokens), `loop` (all of it). The only part of
envgen that imports torch or vllm; it sees the manifest, the agent, the grader and the edges, and
none of the other steps.
"""

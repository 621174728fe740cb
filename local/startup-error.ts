/** A reason why the service cannot run on this machine, in one sentence that says what to do. */
export function startupError(sentence: string): Error {
  return Object.assign(new Error(sentence), { name: 'CannotStart' });
}

/** Whether the thrown value is such a reason, to be shown without a stack. */
export function isStartupError(error: unknown): error is Error {
  return error instanceof Error && error.name === 'CannotStart';
}

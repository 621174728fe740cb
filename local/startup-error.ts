/** Creates an error that prevents the service from starting. The message says what the user can do. */
export function startupError(message: string): Error {
  return Object.assign(new Error(message), { name: 'StartupError' });
}

/** Printed without a stack trace. */
export function isStartupError(error: unknown): error is Error {
  return error instanceof Error && error.name === 'StartupError';
}

/** Error that the control API returns to its client. */
export interface ControlError extends Error {
  readonly status: 400 | 404 | 405 | 413 | 422;
}

/** Creates an error with an HTTP status. 422 means that the store or the state of the purchase forbids the request. */
export const controlError = (status: ControlError['status'], message: string): ControlError =>
  Object.assign(new Error(message), { status });

/** A control error is meant for the client. Other errors are defects of the emulator. */
export const isControlError = (error: unknown): error is ControlError => error instanceof Error && 'status' in error;

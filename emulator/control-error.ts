/** An error that the control API answers with its own HTTP status and message. */
export interface ControlError extends Error {
  readonly status: 400 | 404 | 405 | 413 | 422;
}

/** The error to throw when the control API cannot do what it was asked: 422 when the store or the state forbids it. */
export const controlError = (status: ControlError['status'], message: string): ControlError =>
  Object.assign(new Error(message), { status });

/** Whether something thrown is an answer to the caller and not a defect of the emulator. */
export const isControlError = (error: unknown): error is ControlError => error instanceof Error && 'status' in error;

interface ApiErrorInput {
  /** 0: the service is unreachable. */
  readonly status: number;
  /** Error code of the service, `Unreachable` or `Unknown`. */
  readonly code: string;
  /** Message of the service. */
  readonly message: string;
  readonly retryAfterSeconds?: number;
}

/** Failure of a call to the service. */
export type ApiError = Error & ApiErrorInput & { readonly isRetryable: boolean };

const retryableStatuses: readonly number[] = [0, 429, 502, 503, 504];

export const apiError = (input: ApiErrorInput): ApiError =>
  Object.assign(new Error(input.message), { ...input, isRetryable: retryableStatuses.includes(input.status) });

export const isApiError = (error: unknown): error is ApiError => error instanceof Error && 'isRetryable' in error;

/** Text of an error for users: the problem, and what to do. */
export interface ErrorDescription {
  readonly problem: string;
  readonly advice: string;
}

/** Describes any caught value. */
export function describeError(error: unknown): ErrorDescription {
  const isFailedLoad = isMissingAsset(error);
  if (isOffline() && (isFailedLoad || (isApiError(error) && error.status === 0)))
    return { problem: 'The browser is offline.', advice: 'Connect it to the network, then try again.' };
  if (isApiError(error)) return describeApiError(error);
  if (isFailedLoad)
    return {
      problem: 'This page could not be loaded.',
      advice: 'Reload the console: a newer version may be deployed.',
    };
  return {
    problem: 'The console failed.',
    advice: `Reload the page. If it happens again, report this message: ${String(error)}`,
  };
}

export const isOffline = (): boolean => globalThis.navigator?.onLine === false;

// A dynamic import of a page fails if a deployment has replaced its file.
const isMissingAsset = (error: unknown): boolean =>
  error instanceof TypeError && /dynamically imported module|importing a module/i.test(error.message);

function describeApiError({ status, code, message, retryAfterSeconds }: ApiError): ErrorDescription {
  if (status === 504 || (status === 0 && message.startsWith('TimeoutError')))
    return { problem: 'The service timed out.', advice: 'Try again. Figures of a shorter period take less time.' };
  if (status === 0)
    return { problem: 'The service cannot be reached.', advice: 'Check the network connection, then try again.' };
  if (status === 400) return { problem: message, advice: 'Change the input and try again.' };
  if (code === 'AppNotFound') return { problem: message, advice: 'Check the app name, also its capital letters.' };
  if (status === 401) return { problem: 'The app has no such key.', advice: 'Check the key, or request a new one.' };
  if (status === 403)
    return { problem: message, advice: 'Sign in with the secret key, or with a viewer key to only read.' };
  if (status === 404) return { problem: message, advice: 'Check the id, or search for it.' };
  if (status === 409)
    return { problem: message, advice: 'The data changed at the same time. Reload it and try again.' };
  if (status === 422) return { problem: message, advice: 'Choose another action.' };
  if (status === 429)
    return {
      problem: 'The service limits the rate of requests.',
      advice: retryAfterSeconds === undefined ? 'Try again in a minute.' : `Try again in ${retryAfterSeconds} seconds.`,
    };
  if (status === 502) return { problem: message, advice: 'A store or the network is unavailable. Try again later.' };
  return { problem: message, advice: 'Try again. If it happens again, find the error on the Events page.' };
}

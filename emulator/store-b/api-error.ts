import { type Answer, json } from '../http-messages.ts';

/** An error that the API answers with an HTTP status, a reason and a message. */
export interface ApiProblem extends Error {
  readonly httpStatus: number;
  readonly reason: string;
}

/** The error to throw for a call that cannot be answered. */
export const apiProblem = (httpStatus: number, reason: string, message: string): ApiProblem =>
  Object.assign(new Error(message), { httpStatus, reason });

/** The answer for something thrown; what is no `ApiProblem` is thrown on. */
export function errorAnswer(thrown: unknown): Answer {
  if (!isProblem(thrown)) throw thrown;
  return problemAnswer(thrown.httpStatus, thrown.reason, thrown.message);
}

const isProblem = (thrown: unknown): thrown is ApiProblem =>
  thrown instanceof Error && 'httpStatus' in thrown && 'reason' in thrown;

/** The words of Google's common codes, which its older errors lack. */
const statuses: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
};

/** Domains of reasons that are this API's own. */
const isCommon = (reason: string): boolean =>
  ['authError', 'invalid', 'required', 'notFound', 'rateLimitExceeded', 'backendError'].includes(reason);

function problemAnswer(code: number, reason: string, message: string): Answer {
  const status = statuses[code];
  const errors = [{ message, domain: isCommon(reason) ? 'global' : 'androidpublisher', reason }];
  return json(code, { error: { code, message, errors, ...(status !== undefined && { status }) } });
}

/** The answer during an outage. */
export const unavailable = (): Answer => problemAnswer(503, 'backendError', 'The service is currently unavailable.');

/** The answer beyond the quota. */
export const rateLimited = (): Answer =>
  problemAnswer(
    429,
    'rateLimitExceeded',
    "Quota exceeded for quota metric 'Queries' and limit 'Queries per minute' of service 'androidpublisher.googleapis.com'.",
  );

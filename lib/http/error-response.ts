import type { ErrorFormat } from '../api/contract.ts';
import type { ErrorCode, ServiceError } from '../foundation/errors.ts';

export interface JsonResponse {
  readonly status: number;
  readonly body: object;
}

/** Clients of the processor endpoints expect this number for every error, a missing field as well as a wrong token. */
const processorCode = 6778003;

/** Codes of IAPKit, which OpenIAP clients show in their logs. */
const openIapCodes: Readonly<Partial<Record<ErrorCode, string>>> = {
  InvalidPayload: 'INVALID_INPUT',
  Forbidden: 'INVALID_API_KEY',
  AppNotFound: 'INVALID_API_KEY',
  ConnectionFailed: 'SERVICE_BUSY',
};
const openIapStatusCodes: Readonly<Record<number, string>> = { 413: 'PAYLOAD_TOO_LARGE', 429: 'RATE_LIMITED' };

/** Builds the response to an error, by error format. */
export const errorResponses: Readonly<Record<ErrorFormat, (error: ServiceError, route: string) => JsonResponse>> = {
  default: ({ status, code, message, data }, route) => ({
    status,
    body: { ...data, ok: false, route, status, code, message },
  }),
  // Clients read the body of a failed validation only if the HTTP status is 200.
  validation: (error, route) => ({
    status: 200,
    body: {
      ok: false,
      route,
      status: error.status,
      code: error.number,
      message: error.message,
      data: { ...error.data, latest_receipt: true, code: error.number, error: { message: error.message } },
    },
  }),
  processor: ({ status, message }) => ({ status, body: { ok: false, status, code: processorCode, message } }),
  // Clients read the message only if the HTTP status is 200.
  'client-token': ({ message }) => ({ status: 200, body: { success: false, message } }),
  openiap: ({ status, code, message }) => ({
    status,
    body: { errors: [{ code: openIapStatusCodes[status] ?? openIapCodes[code] ?? 'UNKNOWN_ERROR', message }] },
  }),
};

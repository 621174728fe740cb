import type { ErrorFormat } from '../api/contract.ts';
import type { ServiceError } from '../shared/errors.ts';

export interface ErrorResponse {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Clients of the processor endpoints know one number, for a missing field as for a wrong token. */
const processorCode = 6778003;

/** How an error is worded, by the dialect of its endpoint. */
export const errorResponses: Readonly<Record<ErrorFormat, (error: ServiceError, route: string) => ErrorResponse>> = {
  default: ({ status, code, message }, route) => ({ status, body: { ok: false, route, status, code, message } }),
  // Clients read the body of a failed validation only when the HTTP status is 200.
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
  'client-token': ({ message }) => ({ status: 200, body: { success: false, message } }),
};

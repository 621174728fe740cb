import * as v from 'valibot';
import { invalidSettingsError } from './api-errors.ts';
import { parseBraintreeObject } from './payloads.ts';

const DeclinedResult = v.object({
  message: v.optional(v.string()),
  /** A declined payment. */
  transaction: v.optional(
    v.object({
      status: v.optional(v.string()),
      gatewayRejectionReason: v.nullish(v.string()),
      processorResponseText: v.nullish(v.string()),
    }),
  ),
  /** A declined card verification. */
  verification: v.optional(
    v.object({ gatewayRejectionReason: v.nullish(v.string()), processorResponseText: v.nullish(v.string()) }),
  ),
});
type DeclinedResult = v.InferOutput<typeof DeclinedResult>;

const ValidationErrors = v.array(v.object({ code: v.string() }));

/**
 * Validation errors that the settings cause: the plan, merchant account or currency is wrong.
 *
 * @see https://developer.paypal.com/braintree/docs/reference/general/validation-errors/all/node
 */
const settingsErrorCodes = new Set(['91904', '91513', '91577', '91901', '91936']);

/** Parses an unsuccessful result. Throws `InternalError` if the settings cause it. */
export function parseDeclinedResult(result: object): DeclinedResult {
  const codes = listErrorCodes(result);
  const declined = parseBraintreeObject(DeclinedResult, result);
  if (codes.some((code) => settingsErrorCodes.has(code))) {
    throw invalidSettingsError(`a product of the catalogue is invalid (${declined.message ?? codes.join(', ')})`);
  }
  return declined;
}

/** Lists the codes of the validation errors of an unsuccessful result. */
export function listErrorCodes(result: object): string[] {
  const { errors } = result as { readonly errors?: { deepErrors?: () => unknown } };
  return parseBraintreeObject(ValidationErrors, errors?.deepErrors?.() ?? []).map(({ code }) => code);
}

/** Returns the public message of a declined payment, with Braintree's reason. */
export function toDeclineMessage({ message, transaction, verification }: DeclinedResult): string {
  const { gatewayRejectionReason, processorResponseText } = transaction ?? verification ?? {};
  if (gatewayRejectionReason) return `The payment was rejected: ${gatewayRejectionReason}.`;
  const reason = processorResponseText || message;
  return reason ? `The payment was declined: ${reason}` : 'The payment was declined.';
}

import * as v from 'valibot';
import { ServiceError } from '../../shared/errors.ts';
import { parseBraintreeObject } from './payloads.ts';

const DeclinedResult = v.object({
  message: v.optional(v.string()),
  /** Of a payment, or of the verification of a card. */
  transaction: v.optional(
    v.object({
      status: v.optional(v.string()),
      gatewayRejectionReason: v.nullish(v.string()),
      processorResponseText: v.nullish(v.string()),
    }),
  ),
  verification: v.optional(
    v.object({ gatewayRejectionReason: v.nullish(v.string()), processorResponseText: v.nullish(v.string()) }),
  ),
});
type DeclinedResult = v.InferOutput<typeof DeclinedResult>;

const ValidationErrors = v.array(v.object({ code: v.string() }));

/** Not the buyer's: the plan, the merchant account or the currency in the settings is wrong. */
const configurationErrors = new Set(['91904', '91513', '91577', '91901', '91936']);

/** What the processor said no to; throws `InternalError` when the settings are what is wrong. */
export function parseDeclinedResult(result: object): DeclinedResult {
  const { errors } = result as { readonly errors?: { deepErrors?: () => unknown } };
  const codes = parseBraintreeObject(ValidationErrors, errors?.deepErrors?.() ?? []).map(({ code }) => code);
  const refused = parseBraintreeObject(DeclinedResult, result);
  if (codes.some((code) => configurationErrors.has(code))) {
    throw new ServiceError(
      'InternalError',
      `The processor refuses the product's settings: a configuration error. ${refused.message ?? ''}`.trim(),
    );
  }
  return refused;
}

/** The sentence that the buyer's client is told. */
export function toDeclineMessage({ message, transaction, verification }: DeclinedResult): string {
  const { gatewayRejectionReason, processorResponseText } = transaction ?? verification ?? {};
  if (gatewayRejectionReason) return `The payment was rejected: ${gatewayRejectionReason}.`;
  const why = processorResponseText || message;
  return why ? `The payment was declined: ${why}` : 'The payment was declined.';
}

import * as v from 'valibot';
import { defineContract } from '../api/contract.ts';
import { CreditTotals, CreditTotalsByName, creditTotalTexts } from '../api/credit-totals.ts';
import { type ApiPart, describeObject, describeOperation, describeValue } from '../api/describe.ts';
import { DateTime, OptionalText } from '../api/schemas.ts';
import { ValidatorPurchase } from '../purchases/purchase-contract.ts';
import { receiptExamples } from './evidence-contract.ts';
import { ValidateReceiptBody, ValidationRequestBody } from './request-contract.ts';

/** The store's own transaction. Its members depend on the store. */
const NativeTransaction = v.looseObject({ type: OptionalText });

/** The validated product and the purchases of the receipt. */
const ValidationData = v.strictObject({
  id: v.string(),
  latest_receipt: v.literal(true),
  transaction: NativeTransaction,
  collection: v.array(ValidatorPurchase),
  ineligible_for_intro_price: v.array(v.string()),
  warning: OptionalText,
  /** Present if a validated product gives credits. */
  credits: v.exactOptional(CreditTotalsByName),
  date: DateTime,
});

const ValidationSuccess = v.strictObject({ ok: v.literal(true), data: ValidationData });

/** The error as the plugins read it, next to the members of the response. */
const ValidationErrorMessage = v.strictObject({ message: v.string() });

const ValidationFailureData = v.looseObject({
  latest_receipt: v.literal(true),
  code: v.number(),
  error: ValidationErrorMessage,
});

export const ValidationFailure = v.strictObject({
  ok: v.literal(false),
  route: v.string(),
  status: v.number(),
  code: v.number(),
  message: v.string(),
  data: ValidationFailureData,
});

const ValidationResponse = v.union([ValidationSuccess, ValidationFailure]);

export const validateReceipt = defineContract({
  id: 'validate-receipt',
  area: 'validation',
  summary: 'Validate a receipt and record its purchases for the customer',
  method: 'POST',
  path: '/v1/validate',
  aliases: ['/v2/validate', '/v3/validate'],
  keyLevel: 'public',
  errorFormat: 'validation',
  eventType: 'receipt.validated',
  body: ValidateReceiptBody,
  response: ValidationResponse,
  permissions: ['write', 'stores'],
  writes: ['purchases', 'credits', 'operations', 'vault'],
});
const errorNumber = [
  'Number of the error code: 6778001 `InvalidPayload`, 6778002 `ConnectionFailed`, 6778003 `PurchaseExpired`, 6778004 `PurchaseConsumed`, 6778005 `InternalError`, 6778006 `NeedMoreData`, 7691001 `AppNotFound`, 7691002 `Conflict`, 7691003 `Forbidden`, 7691004 `DatabaseError`.',
  6778003,
] as const;
const message = ['Error message.', 'Transaction has expired or was cancelled.'] as const;

const descriptions = [
  describeObject(
    'NativeTransaction',
    NativeTransaction,
    "The store's own transaction. Its other members depend on the store.",
    {
      type: ['The `type` of the request.', 'ios-store'],
    },
  ),
  describeObject('ValidationData', ValidationData, 'The validated product and the purchases of the receipt.', {
    id: ['The validated product.', 'premium'],
    latest_receipt: ['The constant true.', true],
    transaction: ["The store's own transaction."],
    collection: ['Purchases of the receipt that the customer owns, active ones first.'],
    ineligible_for_intro_price: ['Products whose introductory price the customer has used.', ['premium']],
    warning: [
      'Why the response has the last verified state: the store is unavailable.',
      'The App Store is unavailable. This is the last verified state.',
    ],
    credits: ['The credits of the customer by name. Present if a validated product gives credits.'],
    date: ['Date of the response.', '2026-02-15T09:30:05.000Z'],
  }),
  describeObject('CreditTotals', CreditTotals, 'The numbers of a credit of a customer.', creditTotalTexts),
  describeObject('ValidationSuccess', ValidationSuccess, 'The receipt is valid and the product is owned.', {
    ok: ['The constant true.', true],
    data: ['The validated product and the purchases of the receipt.'],
  }),
  describeObject('ValidationErrorMessage', ValidationErrorMessage, 'The error message for released clients.', {
    message,
  }),
  describeObject(
    'ValidationFailureData',
    ValidationFailureData,
    'Details of the error. A missing StoreID key adds `serviceTicket` and `serviceTicketType`.',
    {
      latest_receipt: ['The constant true.', true],
      code: errorNumber,
      error: ['The error message.'],
    },
  ),
  describeObject(
    'ValidationFailure',
    ValidationFailure,
    'The receipt is not valid, the product is not owned, or the validation failed. The HTTP status is 200.',
    {
      ok: ['The constant false.', false],
      route: ['Path of the operation.', '/v1/validate'],
      status: ['HTTP status of the error code.', 419],
      code: errorNumber,
      message,
      data: ['Details of the error.'],
    },
  ),
  describeValue('ValidationResponse', ValidationResponse, 'Result of the validation. `ok` selects the form.'),
];

const exampleBody = { id: 'premium', type: 'paid subscription', additionalData: { applicationUsername: 'alice' } };

// @__NO_SIDE_EFFECTS__
const buildBodyExamples = () =>
  Object.fromEntries(
    receiptExamples.map(({ name, summary, fields }) => {
      const transaction = Object.fromEntries(Object.entries(fields).map(([member, [, example]]) => [member, example]));
      return [name, { summary, value: { ...exampleBody, transaction } }];
    }),
  );

const operations = [
  describeOperation(validateReceipt, {
    description:
      'Validates a receipt with its store, records its purchases and entitles the customer. Released clients send null, empty strings and unknown members; only an invalid `id`, `type` or `transaction` is an error. A failed validation has the HTTP status 200 and `ok: false`.',
    body: ValidationRequestBody,
    bodyExamples: buildBodyExamples(),
  }),
];

export const validationApi: ApiPart = { descriptions, operations };

import * as v from 'valibot';
import { type ErrorCode, errorCodes } from '../foundation/errors.ts';
import { describeObject, describeValue } from './describe.ts';
import { OptionalNumber, OptionalText } from './schemas.ts';

const ErrorCodes = v.picklist(Object.keys(errorCodes) as ErrorCode[]);

/** Meaning of each error code. */
const meanings: Readonly<Record<ErrorCode, string>> = {
  InvalidPayload: 'the request is invalid',
  ConnectionFailed: 'a store is unavailable, or there are too many requests; try again later',
  PurchaseExpired: 'the subscription expired and was not renewed',
  PurchaseConsumed: 'the consumable is already consumed',
  InternalError: 'an internal problem prevented processing; try again later',
  NeedMoreData: 'more data is required, such as a StoreID key or the payment',
  Unknown: 'an unexpected error',
  AppNotFound: 'no app has the name, or the app is deleted',
  Conflict: 'the request conflicts with another one or with the state of the record',
  Forbidden: 'the credentials are missing, wrong or do not allow the request',
  DatabaseError: 'the database is unavailable; try again later',
  ResourceNotFound: 'the record does not exist',
};

/** Body of an error in the default format. API Gateway's own errors lack `route`. */
export const ErrorBody = v.strictObject({
  ok: v.literal(false),
  route: OptionalText,
  status: v.number(),
  code: ErrorCodes,
  message: v.string(),
  balance: OptionalNumber,
});

/** Body of an error of the Stripe endpoints. */
export const ProcessorErrorBody = v.strictObject({
  ok: v.literal(false),
  status: v.number(),
  code: v.literal(6778003),
  message: v.string(),
});

/** An error of the OpenIAP endpoint. */
const OpenIapError = v.strictObject({ code: v.string(), message: v.string() });

/** Body of an error of the OpenIAP endpoint. */
const OpenIapErrorBody = v.strictObject({ errors: v.array(OpenIapError) });

export const errorDescriptions = [
  describeValue(
    'ErrorCode',
    ErrorCodes,
    `Error code: ${Object.entries(meanings)
      .map(([code, meaning]) => `\`${code}\`: ${meaning}.`)
      .join(' ')}`,
    'InvalidPayload',
  ),
  describeObject('Error', ErrorBody, 'An error.', {
    ok: ['The constant false.', false],
    route: [
      'Path of the operation, with its parameter names. Absent if the request did not reach an operation.',
      '/v3/purchases',
    ],
    status: ['The HTTP status.', 400],
    code: ['The error code.'],
    message: ['Description of the problem, for developers.', 'limit: expected a whole number from 1.'],
    balance: ['The balance of a credit that does not suffice. Absent for other errors.', 40],
  }),
  describeObject('ProcessorError', ProcessorErrorBody, 'An error of a Stripe operation.', {
    ok: ['The constant false.', false],
    status: ['The HTTP status.', 403],
    code: ['The same for every error: released clients compare with it.', 6778003],
    message: ['Description of the problem, for developers.', 'Invalid access token'],
  }),
  describeObject('OpenIapError', OpenIapError, 'An error of the OpenIAP operation.', {
    code: ['The error code of IAPKit.', 'INVALID_INPUT'],
    message: ['Description of the problem, for developers.', 'jws: expected a signed transaction of StoreKit 2.'],
  }),
  describeObject('OpenIapErrors', OpenIapErrorBody, 'The errors of the OpenIAP operation.', {
    errors: ['One error.'],
  }),
];

interface ErrorResponseDescription {
  readonly name: string;
  readonly description: string;
  readonly code: ErrorCode;
  /** Code in the errors of OpenIAP clients. */
  readonly openIapCode: string;
  readonly message: string;
  /** API Gateway can respond with this status on its own, in the default format. */
  readonly isFromGateway?: true;
}

/** Error responses by HTTP status. */
export const errorResponseDescriptions: Readonly<Record<number, ErrorResponseDescription>> = {
  400: {
    name: 'InvalidRequest',
    description: 'A parameter or the body is invalid.',
    code: 'InvalidPayload',
    openIapCode: 'INVALID_INPUT',
    message: 'limit: expected a whole number from 1.',
    isFromGateway: true,
  },
  401: {
    name: 'WrongCredentials',
    description: 'The app name or the key is missing or wrong.',
    code: 'Forbidden',
    openIapCode: 'INVALID_API_KEY',
    message: 'The app name and the key do not match.',
  },
  403: {
    name: 'InsufficientKey',
    description: 'The key does not allow the request, or an access token is wrong.',
    code: 'Forbidden',
    openIapCode: 'INVALID_API_KEY',
    message: 'The secret key is required.',
    isFromGateway: true,
  },
  404: {
    name: 'NotFound',
    description: 'The record does not exist, or the app of the key is deleted.',
    code: 'ResourceNotFound',
    openIapCode: 'INVALID_API_KEY',
    message: 'The purchase is not found.',
  },
  409: {
    name: 'Conflict',
    description: 'The request conflicts with a concurrent one or with the state of the record.',
    code: 'Conflict',
    openIapCode: 'UNKNOWN_ERROR',
    message: 'The data was changed by a concurrent request. Try again.',
  },
  413: {
    name: 'TooLarge',
    description: 'The body has more than 2 MB, or the response would have more than 5 MB.',
    code: 'InvalidPayload',
    openIapCode: 'PAYLOAD_TOO_LARGE',
    message: 'The response is too large. Request fewer rows.',
    isFromGateway: true,
  },
  429: {
    name: 'TooManyRequests',
    description: 'Too many requests, or too many with wrong credentials. Try again after `Retry-After`.',
    code: 'Forbidden',
    openIapCode: 'RATE_LIMITED',
    message: 'Too many requests with invalid credentials. Try again later.',
    isFromGateway: true,
  },
  500: {
    name: 'InternalError',
    description: 'An internal problem prevented processing. Try again later.',
    code: 'InternalError',
    openIapCode: 'UNKNOWN_ERROR',
    message: 'An internal problem prevented processing.',
    isFromGateway: true,
  },
  502: {
    name: 'StoreUnavailable',
    description: 'The store is unavailable. Try again later.',
    code: 'ConnectionFailed',
    openIapCode: 'SERVICE_BUSY',
    message: 'The App Store is unavailable. Try again later.',
  },
  503: {
    name: 'Overloaded',
    description: 'The service has too many requests in progress. Try again after `Retry-After`.',
    code: 'InternalError',
    openIapCode: 'SERVICE_BUSY',
    message: 'The service is overloaded. Try again later.',
    isFromGateway: true,
  },
  504: {
    name: 'Timeout',
    description: 'The service timed out. Try again later.',
    code: 'InternalError',
    openIapCode: 'UNKNOWN_ERROR',
    message: 'The service timed out.',
    isFromGateway: true,
  },
};

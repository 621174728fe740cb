import type * as v from 'valibot';
import { type Contract, isForSecretKeyOnly } from '../lib/api/contract.ts';
import type { FieldDescription, OperationDescription } from '../lib/api/describe.ts';
import { errorResponseDescriptions } from '../lib/api/errors.ts';
import { type JsonSchema, SchemaConverter } from '../lib/api/json-schema.ts';
import { apiVersion } from '../lib/api/service.ts';
import { tagDescriptions } from '../lib/api/tags.ts';
import { operationDescriptions, schemaDescriptions } from '../lib/contracts/index.ts';
import { CreditsUpdatedWebhook } from '../lib/credits/contract.ts';
import { RefundRequestedWebhook } from '../lib/refunds/contract.ts';
import {
  ConsentRescindedWebhook,
  ExternalPurchaseTokenWebhook,
  type StoreRequest,
} from '../lib/stores/store-request-contract.ts';
import { PurchasesUpdatedWebhook, summarizeWebhooks, TestWebhook, webhookHeaders } from '../lib/webhooks/contract.ts';
import { readApiExamples } from './api-examples.ts';
import { toGatewayPath } from './gateway-document.ts';

const converter = new SchemaConverter(schemaDescriptions);
const examples = readApiExamples();
const operations = new Map(operationDescriptions.map((operation) => [operation.contract.id, operation]));

/**
 * Builds the OpenAPI 3.1 document of the service from the contracts, their schemas and the descriptions. It has the
 * documented path of each operation; `x-aliases` has the other paths of released clients.
 * @see https://spec.openapis.org/oas/v3.1.1.html
 */
export function buildOpenApiDocument(contracts: readonly Contract[]) {
  const paths: Record<string, Record<string, object>> = {};
  for (const contract of contracts) {
    const template = toGatewayPath(contract.path);
    paths[template] = { ...paths[template], [contract.method.toLowerCase()]: buildOperation(contract) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Claimcheck',
      version: apiVersion,
      summary: 'Purchase validation and entitlements for five stores',
      description:
        'Apps validate receipts with the public key. Your server reads purchases, customers and statistics with the secret key, and receives a webhook when a purchase changes. Responses can gain fields: ignore unknown fields.',
      contact: { name: 'The operator of the service' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [
      {
        url: '{apiUrl}',
        description: 'Your deployment, or the local service',
        variables: {
          apiUrl: {
            default: 'http://127.0.0.1:4000',
            description: 'The stack output `ApiUrl`, without a trailing slash. The default is the local service.',
          },
        },
      },
    ],
    tags: Object.entries(tagDescriptions).map(([name, description]) => ({ name, description })),
    security: keySecurity,
    paths,
    webhooks: {
      'purchases.updated': buildWebhook('purchases.updated', PurchasesUpdatedWebhook, {
        summary: 'A purchase of a customer changed',
        description: `The service calls the webhook URLs of the app when a purchase changes. ${summarizeWebhooks()}`,
      }),
      'refund.requested': buildWebhook('refund.requested', RefundRequestedWebhook, {
        summary: 'A store requests a statement about a refund',
        description: `The service calls the webhook URLs of an app with \`app set-webhook --events refunds\` for each new refund request. ${summarizeWebhooks()}`,
      }),
      'credits.updated': buildWebhook('credits.updated', CreditsUpdatedWebhook, {
        summary: 'The credits of a customer changed',
        description: `The service calls the webhook URLs of an app with \`app set-webhook --events credits\`. ${summarizeWebhooks()}`,
      }),
      'consent.rescinded': buildWebhook('consent.rescinded', ConsentRescindedWebhook, {
        summary: 'A parent rescinded the consent for a customer',
        description: `The service calls the webhook URLs of an app with \`app set-webhook --events consents\`. ${summarizeWebhooks()}`,
      }),
      'external-purchase.token': buildWebhook('external-purchase.token', ExternalPurchaseTokenWebhook, {
        summary: 'An external purchase token must be reported',
        description: `The service calls the webhook URLs of an app with \`app set-webhook --events external-purchases\`. ${summarizeWebhooks()}`,
      }),
      test: buildWebhook('test', TestWebhook, {
        summary: 'Check of the connection',
        description: `The service calls the webhook URLs of the app for \`POST /v3/webhooks/test\` and for the command \`app test-webhook\`. ${summarizeWebhooks()}`,
      }),
    },
    components: {
      securitySchemes,
      schemas: buildComponents(contracts),
      responses: buildErrorResponses(),
      headers: {
        'Retry-After': {
          description: 'Seconds until the next attempt.',
          schema: { type: 'integer', minimum: 1, examples: [30] },
        },
      },
    },
  };
}

const securitySchemes = {
  basic: { type: 'http', scheme: 'basic', description: 'The app name as the user name, and a key as the password.' },
  bearer: { type: 'http', scheme: 'bearer', description: 'Base64 of the app name, a colon and a key.' },
  appName: { type: 'apiKey', in: 'query', name: 'appName', description: 'The app name, together with `apiKey`.' },
  apiKey: {
    type: 'apiKey',
    in: 'query',
    name: 'apiKey',
    description: 'A key, together with `appName`. For clients that cannot set headers.',
  },
};
const keySecurity = [{ basic: [] }, { bearer: [] }, { appName: [], apiKey: [] }];

const keyDescriptions: Readonly<Record<Contract['keyLevel'], string>> = {
  none: '',
  public: ' Accepts the public and the secret key.',
  secret: ' Requires the secret key.',
};

const describeKey = (contract: Contract): string =>
  contract.keyLevel === 'secret' && contract.method === 'GET' && !isForSecretKeyOnly(contract)
    ? ' Requires the secret key or a viewer key.'
    : keyDescriptions[contract.keyLevel];

function buildOperation(contract: Contract) {
  const { id, summary, area, aliases, keyLevel, writingParameter, additionalLevels = [] } = contract;
  const operation = operations.get(id);
  if (!operation) throw new Error(`The description of the operation ${id} is missing.`);
  return {
    operationId: id,
    summary,
    description: `${operation.description}${describeKey(contract)}`,
    tags: [area],
    ...(operation.isDeprecated && { deprecated: true }),
    parameters: [
      ...buildParameters(contract.params, 'path', operation.params),
      ...buildParameters(contract.query, 'query', operation.query),
    ],
    ...(contract.body && { requestBody: buildRequestBody(operation.body ?? contract.body, operation) }),
    responses: buildResponses(contract),
    ...(keyLevel === 'none' && { security: [] }),
    ...buildCallbacks(id),
    'x-key': keyLevel,
    ...(isForSecretKeyOnly(contract) && { 'x-secret-key-only': true }),
    ...(additionalLevels.length > 0 && { 'x-additional-levels': additionalLevels }),
    ...(writingParameter !== undefined && { 'x-writing-parameter': writingParameter }),
    ...(aliases.length > 0 && { 'x-aliases': aliases.map(toGatewayPath) }),
  };
}

/**
 * Operations whose request sends a webhook. Generators that omit the schemas of `webhooks` find them in these
 * callbacks.
 */
const webhookSchemas: Readonly<Record<string, Readonly<Record<string, v.GenericSchema>>>> = {
  'test-webhook': { test: TestWebhook },
  'replay-delivery': {
    'purchases.updated': PurchasesUpdatedWebhook,
    'refund.requested': RefundRequestedWebhook,
    'credits.updated': CreditsUpdatedWebhook,
    'consent.rescinded': ConsentRescindedWebhook,
    'external-purchase.token': ExternalPurchaseTokenWebhook,
  },
};

function buildCallbacks(id: string) {
  const schemas = Object.hasOwn(webhookSchemas, id) ? webhookSchemas[id] : undefined;
  if (!schemas) return {};
  const callbacks = Object.entries(schemas).map(([name, schema]) => {
    const post = {
      summary: 'The webhook to your server',
      security: [],
      requestBody: { required: true, content: toJsonContent(converter.convert(schema, 'output')) },
      responses: {
        '2XX': { description: 'The webhook is delivered. The body is ignored.' },
        '4XX': { description: 'A failure. The service tries again.' },
      },
    };
    return [name, { 'https://app.example.com/webhooks': { post } }];
  });
  return { callbacks: Object.fromEntries(callbacks) };
}

const buildRequestBody = (schema: v.GenericSchema, { contract, bodyExamples }: OperationDescription) => ({
  required: true,
  content: toJsonContent(converter.convert(schema, 'input'), {
    ...toRecordedExample('A request', examples.operations[contract.id]?.body),
    ...bodyExamples,
  }),
});

/** Wraps a recorded value as an example of a body. Returns no example without a value. */
const toRecordedExample = (summary: string, value: unknown): NonNullable<OperationDescription['bodyExamples']> =>
  value === undefined ? {} : { recorded: { summary, value } };

const toJsonContent = (schema: JsonSchema, bodyExamples: OperationDescription['bodyExamples'] = {}) => ({
  'application/json': { schema, ...(Object.keys(bodyExamples).length > 0 && { examples: bodyExamples }) },
});

function buildParameters(
  schema: v.GenericSchema | undefined,
  location: 'path' | 'query',
  descriptions: Readonly<Record<string, FieldDescription>> = {},
) {
  if (!schema) return [];
  const { properties = {}, required = [] } = converter.convert(schema, 'input') as {
    properties?: Record<string, JsonSchema>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { examples, ...property }]) => {
    const [description, example] = descriptions[name] ?? [''];
    return {
      name,
      in: location,
      required: location === 'path' || required.includes(name),
      description,
      schema: typeof example === 'boolean' ? { type: 'boolean' } : property,
      ...(example !== undefined ? { example } : Array.isArray(examples) && { example: examples[0] }),
    };
  });
}

/** Prefixes of the error responses with their own format. */
const errorPrefixes: Readonly<Partial<Record<Contract['errorFormat'], string>>> = {
  processor: 'Processor',
  openiap: 'OpenIap',
};

/** Documents the success and each error. Two error formats respond to every error of the service with 200. */
function buildResponses(contract: Contract) {
  const { errorFormat } = contract;
  const recorded = toRecordedExample('A response', examples.operations[contract.id]?.response);
  const content = toJsonContent(converter.convert(contract.response, 'output'), recorded);
  const hasErrorsIn200 = errorFormat === 'validation' || errorFormat === 'client-token';
  const prefix = errorPrefixes[errorFormat] ?? '';
  return {
    200: {
      description: hasErrorsIn200 ? 'Success, or an error in the body' : 'Success',
      ...(hasErrorsIn200 && { headers: { 'Retry-After': retryAfter } }),
      content,
    },
    ...(contract.successStatuses?.includes(201) && { 201: { description: 'Created', content } }),
    ...Object.fromEntries(
      listErrorStatuses(contract).map((status) => [
        status,
        {
          $ref: `#/components/responses/${prefix}${errorResponseDescriptions[status]?.name}`,
          ...describeCauses(contract, status),
        },
      ]),
    ),
  };
}

/** Causes of these errors that each operation can have, in addition to its own. */
const generalCauses = {
  404: 'The app of the key is deleted.',
  409: 'A concurrent request changed the data. Try again.',
} as const;

/** Describes the causes of an error if the operation has its own ones. A line is a cause. */
function describeCauses({ id }: Contract, status: number): { readonly description?: string } {
  if (status !== 404 && status !== 409) return {};
  const causes = operations.get(id)?.errors?.[status];
  return causes ? { description: [...causes, generalCauses[status]].join('\n') } : {};
}

const retryAfter = { $ref: '#/components/headers/Retry-After' };

function listErrorStatuses({ errorFormat, keyLevel, params, body, permissions }: Contract): number[] {
  const always = [400, 403, 413, 429, 500, 503, 504];
  if (errorFormat === 'validation' || errorFormat === 'client-token') return always;
  return [
    ...always,
    ...(keyLevel === 'none' ? [] : [401]),
    ...(keyLevel === 'none' && !params ? [] : [404]),
    ...(body || permissions.includes('write') ? [409] : []),
    ...(permissions.includes('stores') ? [502] : []),
  ].sort((a, b) => a - b);
}

/** Builds the error responses in the default format and in the formats of the Stripe and OpenIAP operations. */
function buildErrorResponses(): Record<string, object> {
  const error = { $ref: '#/components/schemas/Error' };
  const processorError = { $ref: '#/components/schemas/ProcessorError' };
  const openIapError = { $ref: '#/components/schemas/OpenIapErrors' };
  return Object.fromEntries(
    Object.entries(errorResponseDescriptions).flatMap(
      ([key, { name, description, code, openIapCode, message, isFromGateway }]) => {
        const status = Number(key);
        const response = {
          description,
          ...((status === 429 || status === 503) && { headers: { 'Retry-After': retryAfter } }),
        };
        const body = { ok: false, status, code, message };
        const gatewayResponse = { ...response, content: toJsonContent(error, toExample(body)) };
        const toOwnResponse = (schema: JsonSchema, ownBody: object): object =>
          status === 503 || status === 504
            ? gatewayResponse
            : {
                ...response,
                content: toJsonContent(isFromGateway ? { anyOf: [schema, error] } : schema, toExample(ownBody)),
              };
        return [
          [name, gatewayResponse],
          [`Processor${name}`, toOwnResponse(processorError, { ...body, code: 6778003 })],
          [`OpenIap${name}`, toOwnResponse(openIapError, { errors: [{ code: openIapCode, message }] })],
        ];
      },
    ),
  );
}

const toExample = (value: object) => ({ error: { summary: 'An error', value } });

/** Builds the components. A schema of a request body is converted as clients send it. */
function buildComponents(contracts: readonly Contract[]): Record<string, JsonSchema> {
  const bodies = new Set<unknown>(contracts.map(({ id, body }) => operations.get(id)?.body ?? body));
  return Object.fromEntries(
    schemaDescriptions
      .filter(({ format }) => !format)
      .map((description): [string, JsonSchema] => [
        description.name,
        converter.convertComponent(description, bodies.has(description.schema) ? 'input' : 'output'),
      ])
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

function buildWebhook(
  name: 'purchases.updated' | 'refund.requested' | 'credits.updated' | StoreRequest['type'] | 'test',
  schema: v.GenericSchema,
  { summary, description }: { readonly summary: string; readonly description: string },
) {
  return {
    post: {
      operationId: `receive-${name.replaceAll('.', '-')}`,
      summary,
      description,
      tags: ['webhooks'],
      security: [],
      parameters: Object.entries(webhookHeaders).map(([name, [header, example]]) => ({
        name,
        in: 'header',
        required: true,
        description: header,
        schema: { type: typeof example === 'number' ? 'integer' : 'string' },
        example,
      })),
      requestBody: {
        required: true,
        content: toJsonContent(
          converter.convert(schema, 'output'),
          toRecordedExample('A webhook', examples.webhooks[name]),
        ),
      },
      responses: {
        '2XX': { description: 'The webhook is delivered. The body is ignored.' },
        410: { description: 'The URL is disabled until the operator sets it again.' },
        '4XX': { description: 'A failure. The service tries again.' },
        '5XX': { description: 'A failure. The service tries again.' },
      },
    },
  };
}

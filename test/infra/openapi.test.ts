import { spawnSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import * as v from 'valibot';
import { startEmulator } from '../../emulator/start-emulator.ts';
import { readApiExamples } from '../../infra/api-examples.ts';
import { buildGatewayDocument } from '../../infra/gateway-document.ts';
import { buildOpenApiDocument } from '../../infra/openapi.ts';
import { renderApiReference } from '../../infra/render-api-reference.ts';
import { renderCurl, renderFetch, renderPython } from '../../infra/render-request.ts';
import type { FieldDescription } from '../../lib/api/describe.ts';
import { ErrorBody, errorResponseDescriptions, ProcessorErrorBody } from '../../lib/api/errors.ts';
import { contracts, operationDescriptions, schemaDescriptions } from '../../lib/contracts/index.ts';
import { CreditsUpdatedWebhook } from '../../lib/credits/contract.ts';
import { type ErrorCode, errorCodes, ServiceError } from '../../lib/foundation/errors.ts';
import { hourMs, minuteMs, secondMs } from '../../lib/foundation/time.ts';
import { errorResponses } from '../../lib/http/response.ts';
import { RefundRequestedWebhook } from '../../lib/refunds/contract.ts';
import { ValidationFailure } from '../../lib/validation/contract.ts';
import { ValidateReceiptBody, ValidationRequestBody } from '../../lib/validation/request-contract.ts';
import { PurchasesUpdatedWebhook, retryDelays, TestWebhook } from '../../lib/webhooks/contract.ts';
import { retryDelaysMs } from '../../lib/webhooks/retry-schedule.ts';
import { buildWebhookBody } from '../../lib/webhooks/webhook-request.ts';
import { createEmulatorClient } from '../../testing/emulator-client.ts';
import { getStoreKeys } from '../../testing/run-keys.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';

type Json = Readonly<Record<string, unknown>>;

const document = JSON.parse(JSON.stringify(buildOpenApiDocument(contracts))) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Json>>;
    readonly responses: Readonly<Record<string, Json>>;
  };
};

const pages = new Map(renderApiReference(buildOpenApiDocument(contracts)).map((page) => [page.name, page.html]));

/** The text of all pages of the reference. */
const referenceText = [...pages.values()]
  .join('\n')
  .replaceAll(/<[^>]+>/g, '')
  .replaceAll('&lt;', '<')
  .replaceAll('&gt;', '>')
  .replaceAll('&quot;', '"')
  .replaceAll('&#x27;', "'")
  .replaceAll('&amp;', '&');

const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));

const hasText = (value: unknown): boolean => typeof value === 'string' && value.length > 0;

/** The schema is a reference, or a list or map of references. */
const isDescribedElsewhere = (schema: unknown): boolean => {
  if (typeof schema !== 'object' || schema === null) return false;
  const { $ref, items, additionalProperties, oneOf } = schema as Json;
  return (
    $ref !== undefined ||
    oneOf !== undefined ||
    isDescribedElsewhere(items) ||
    isDescribedElsewhere(additionalProperties)
  );
};

describe('buildOpenApiDocument', () => {
  it('states the status in each row of the errors', () => {
    const statuses = [...(pages.get('errors') ?? '').matchAll(/^<tr><td>(\w+)<\/td>/gm)].map(([, status]) => status);
    expect(statuses.slice(0, 3)).toEqual(['400', '401', '403']);
    expect(statuses).not.toContain('undefined');
  });

  it('describes the causes of errors that an operation has, and each is documented as its response', () => {
    const described = operationDescriptions.filter(({ errors = {} }) => Object.keys(errors).length > 0);
    expect(described.length).toBeGreaterThan(25);
    for (const { contract, errors = {} } of described) {
      const { responses } = operations.find(({ operationId }) => operationId === contract.id) as {
        readonly responses: Readonly<Record<string, { readonly description: string }>>;
      };
      for (const [status, causes] of Object.entries(errors)) {
        expect(responses[status]?.description.split('\n')).toEqual(expect.arrayContaining([...causes]));
        for (const cause of causes) expect(referenceText).toContain(cause.replaceAll('`', ''));
      }
    }
  });

  it('puts each operation on the page of its area, in which each id is unique', () => {
    for (const { id, area } of contracts) expect(pages.get(area)).toContain(`<h2 id="${id}">`);
    for (const html of pages.values()) {
      const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
      expect(new Set(ids).size).toBe(ids.length);
    }
  });

  it('puts each schema once on the page of the area that uses it or on the page of all areas', () => {
    for (const name of Object.keys(document.components.schemas)) {
      const places = [...pages].filter(([, html]) => html.includes(` id="schema-${name}"`));
      expect([name, places.length]).toEqual([name, 1]);
    }
    expect(pages.get('schemas')).toContain(' id="schema-Error"');
  });

  it.each([...pages])('closes each element of the page %s', (_name, html) => {
    const open: (string | undefined)[] = [];
    for (const [, end, tag] of html.matchAll(/<(\/?)(\w+)[^>]*>/g))
      if (end) expect(open.pop()).toBe(tag);
      else open.push(tag);
    expect(open).toEqual([]);
  });

  it('describes each field of each schema and has an example of it', () => {
    const problems = Object.entries(document.components.schemas).flatMap(([name, { description, properties = {} }]) => [
      ...(hasText(description) ? [] : [name]),
      ...Object.entries(properties as Readonly<Record<string, Json>>)
        .filter(([, field]) => !hasText(field.description) || !(field.examples || isDescribedElsewhere(field)))
        .map(([field]) => `${name}.${field}`),
    ]);
    expect(problems).toEqual([]);
  });

  it('describes each schema of a parameter, body, response and field as a component, without nested objects', () => {
    const findInlineObjects = (value: unknown, path: string): string[] => {
      if (typeof value !== 'object' || value === null) return [];
      const { properties, ...members } = value as Json;
      if (properties && path.split('.').length > 3) return [path];
      return [...Object.entries(members), ...Object.entries((properties ?? {}) as Json)]
        .filter(([name]) => name !== 'examples' && name !== 'example')
        .flatMap(([name, member]) => findInlineObjects(member, `${path}.${name}`));
    };
    expect(findInlineObjects(document.paths, 'document.paths.operation')).toEqual([]);
    for (const [name, schema] of Object.entries(document.components.schemas))
      expect(findInlineObjects({ members: schema.properties }, `schemas.${name}`)).toEqual([]);
  });

  it('describes each operation, each parameter and each error, with an example', () => {
    const parameters = operations.flatMap(({ parameters: list }) => list as Json[]);
    expect(parameters.filter(({ description, example }) => !hasText(description) || example === undefined)).toEqual([]);
    expect(operations.filter(({ summary, description }) => !hasText(summary) || !hasText(description))).toEqual([]);
    for (const response of Object.values(document.components.responses)) {
      expect(response).toMatchObject({ description: expect.stringMatching(/\w/) });
      const example = response.content as { 'application/json': { examples: { error: { value: Json } } } };
      const { value } = example['application/json'].examples.error;
      expect(value.ok === false || Array.isArray(value.errors)).toBe(true);
    }
  });

  it('contains the documented path of each contract once, and its aliases', () => {
    expect(operations.map(({ operationId }) => operationId).sort()).toEqual(contracts.map(({ id }) => id).sort());
    expect(Object.keys(document.paths)).not.toContain('/v2/customers');
    expect(document.paths['/v3/customers']?.get).toMatchObject({ 'x-aliases': ['/v2/customers'] });
  });

  it('requires the idempotency key of an action on a purchase', () => {
    const required = document.components.schemas.PurchaseActionRequest?.required;
    expect(required).toEqual(['action', 'reason', 'idempotencyKey']);
  });

  it('contains types, bounds and formats of query parameters', () => {
    const parameters = document.paths['/v3/stats/breakdown']?.get?.parameters as readonly Json[];
    const schemas = Object.fromEntries(parameters.map(({ name, schema }) => [name as string, schema]));
    expect(schemas).toMatchObject({
      startdate: { type: 'string', format: 'date' },
      skip: { type: 'integer', minimum: 0, maximum: 999_999_999 },
      interval: { $ref: '#/components/schemas/StatsInterval' },
    });
  });
});

const examples = readApiExamples();

describe('infra/api-examples.json, which npm run examples writes', () => {
  const getRequest = (id: string) => {
    const { method } = contracts.find((contract) => contract.id === id) ?? {};
    const example = examples.operations[id];
    if (!example || !method) throw new Error(`${id} has no example.`);
    return { method, ...example };
  };

  it('contains a call of each operation, whose request and response match the contract', () => {
    const problems = contracts.flatMap(({ id, body, response }) => {
      const example = examples.operations[id];
      if (!example) return [`${id} is missing`];
      return [
        ...(body && !v.is(operationDescriptions.find(({ contract }) => contract.id === id)?.body ?? body, example.body)
          ? [`${id}: request`]
          : []),
        ...(v.is(response, example.response) ? [] : [`${id}: response`]),
      ];
    });
    expect(problems).toEqual([]);
  });

  it('contains a body of each webhook', () => {
    expect(v.is(PurchasesUpdatedWebhook, examples.webhooks['purchases.updated'])).toBe(true);
    expect(v.is(RefundRequestedWebhook, examples.webhooks['refund.requested'])).toBe(true);
    expect(v.is(CreditsUpdatedWebhook, examples.webhooks['credits.updated'])).toBe(true);
    expect(v.is(TestWebhook, examples.webhooks.test)).toBe(true);
  });

  it('provides the example of each body in the document', () => {
    for (const operation of operations) {
      const { requestBody, responses } = operation as {
        readonly requestBody?: { readonly content: Json };
        readonly responses: Readonly<Record<string, { readonly content: Json }>>;
      };
      const bodies = [responses[200]?.content, ...(requestBody ? [requestBody.content] : [])];
      for (const content of bodies)
        expect(content?.['application/json']).toMatchObject({ examples: { recorded: { value: expect.anything() } } });
    }
  });

  it.each(contracts.map(({ id }) => id))('equals what the code in JavaScript sends: %s', async (id) => {
    const request = getRequest(id);
    const calls: Json[] = [];
    const fetch = async (url: string, init: Json) => {
      calls.push({ url, method: 'GET', ...init });
      return { status: 200, json: async () => ({}) };
    };
    const code = renderFetch(request);
    expect(referenceText).toContain(code);
    const run = new Function(
      'fetch',
      'api',
      'app',
      'publicKey',
      'secretKey',
      'console',
      `return (async () => {${code}})()`,
    );
    await run(fetch, 'http://localhost', 'demo', 'public', 'secret', { log: () => {} });
    const [call] = calls as { url: string; method: string; headers: Json; body?: string }[];
    expect({ path: call?.url, method: call?.method, body: call?.body }).toEqual({
      path: `http://localhost${request.path}`,
      method: request.method,
      body: request.body === undefined ? undefined : JSON.stringify(request.body),
    });
    expect(call?.headers.Authorization).toBe(`Basic ${btoa(`demo:${request.key}`)}`);
  });

  const hasPython = spawnSync('python3', ['--version']).status === 0;
  (hasPython ? it : it.skip)('equals what the code in Python sends', () => {
    const requests = contracts.map(({ id }) => getRequest(id));
    const program = `
import json, sys
class Requests:
    def __getattr__(self, method):
        def call(url, auth, json=None):
            calls.append({"method": method.upper(), "url": url, "auth": auth, "body": json})
            return self
        return call
    status_code = 200
    def json(self):
        return {}
calls = []
for code in json.load(sys.stdin):
    exec(code, {"requests": Requests(), "api": "", "app": "demo", "public_key": "public", "secret_key": "secret", "print": lambda *_: 0})
print(json.dumps(calls))`;
    const codes = requests.map(renderPython);
    for (const code of codes) expect(referenceText).toContain(code);
    const { stdout, stderr } = spawnSync('python3', ['-c', program], {
      input: JSON.stringify(codes),
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual(
      requests.map(({ method, path, key, body = null }) => ({ method, url: path, auth: ['demo', key], body })),
    );
  });

  it.each(contracts.map(({ id }) => id))('equals what the command sends: %s', (id) => {
    const request = getRequest(id);
    const command = renderCurl(request);
    expect(referenceText).toContain(command);
    expect(command).toContain(`"$API${request.path}"`);
    const [, body] = / -d '([\s\S]+)'$/.exec(command) ?? [];
    expect(body && JSON.parse(body.replaceAll("'\\''", "'"))).toEqual(request.body);
  });
});

const fieldExamples = schemaDescriptions.flatMap(({ name, schema, fields = {} }) =>
  Object.entries(fields).flatMap(([field, [, example]]) =>
    example === undefined ? [] : [{ name: `${name}.${field}`, entry: findEntry(schema, field), example }],
  ),
);

/** Finds the schema of a field; the last object of a pipe is the parsed one. */
function findEntry(schema: unknown, field: string): v.GenericSchema {
  const { pipe, entries } = schema as {
    readonly pipe?: readonly { entries?: v.ObjectEntries }[];
    readonly entries?: v.ObjectEntries;
  };
  const found = (pipe?.findLast((step) => step.entries)?.entries ?? entries)?.[field];
  if (!found) throw new Error(`${field} is not a field.`);
  return found as v.GenericSchema;
}

describe('schemaDescriptions', () => {
  it('contains examples that match the schemas of their fields', () => {
    const invalid = fieldExamples.filter(({ entry, example }) => !v.is(entry, example)).map(({ name }) => name);
    expect(fieldExamples.length).toBeGreaterThan(300);
    expect(invalid).toEqual([]);
  });

  it('contains examples of parameters that the service accepts', () => {
    const invalid = operationDescriptions.flatMap(({ contract, params = {}, query = {} }) => {
      const list = (schema: unknown, descriptions: Readonly<Record<string, FieldDescription>>) =>
        Object.entries(descriptions)
          .filter(([name, [, example]]) => !v.is(findEntry(schema, name), String(example)))
          .map(([name]) => `${contract.id} ${name}`);
      return [...list(contract.params, params), ...list(contract.query, query)];
    });
    expect(invalid).toEqual([]);
  });

  it('contains examples of request bodies that the service accepts', () => {
    const examples = operationDescriptions.flatMap(({ contract, bodyExamples = {} }) =>
      Object.values(bodyExamples).map(({ value }) => ({ schema: contract.body as v.GenericSchema, value })),
    );
    expect(examples.length).toBeGreaterThan(5);
    expect(examples.filter(({ schema, value }) => !v.is(schema, value))).toEqual([]);
  });
});

describe('ErrorBody', () => {
  const codes = Object.keys(errorCodes) as ErrorCode[];

  it.each(codes)('describes the responses to %s', (code) => {
    const error = new ServiceError(code, 'The message.');
    expect(v.is(ErrorBody, errorResponses.default(error, '/v3/purchases').body)).toBe(true);
    expect(v.is(ProcessorErrorBody, errorResponses.processor(error, '/v3/processor_a/portal').body)).toBe(true);
    expect(v.is(ValidationFailure, errorResponses.validation(error, '/v1/validate').body)).toBe(true);
  });

  it("describes API Gateway's own errors, each with a documented status", () => {
    const { 'x-amazon-apigateway-gateway-responses': responses } = buildGatewayDocument([], {
      title: '',
      routes: [],
      toInvocation: () => ({ uri: '', credentials: '' }),
    });
    for (const { statusCode, responseTemplates } of Object.values(responses)) {
      expect(Object.keys(errorResponseDescriptions)).toContain(statusCode);
      expect(v.is(ErrorBody, JSON.parse(responseTemplates['application/json']))).toBe(true);
    }
    // API Gateway responds so if Lambda rejects the invocation.
    for (const type of ['DEFAULT_5XX', 'INTEGRATION_FAILURE', 'THROTTLED'] as const)
      expect(responses[type].responseParameters).toHaveProperty(['gatewayresponse.header.Retry-After']);
  });
});

describe('PurchasesUpdatedWebhook', () => {
  const purchase = {
    purchaseId: 'store_a:1',
    transactionId: 'store_a:2',
    productId: 'store_a:premium',
    platform: 'store_a',
    sandbox: false,
    purchaseDate: 1_768_469_400_000,
    expirationDate: 1_773_567_000_000,
  } as const;
  const content = {
    password: 'sec_x',
    purchases: [purchase],
    vocabulary: 'neutral',
    now: 1_768_469_405_000,
  } as const;
  const notification = { id: 'n', reason: 'RENEWED', date: 1_768_469_405_000, purchaseId: 'store_a:1' } as const;

  it('describes the body of a webhook', () => {
    const body = JSON.parse(
      buildWebhookBody({ type: 'purchases.updated', notification, username: 'alice' }, content),
    ) as unknown;
    expect(v.safeParse(PurchasesUpdatedWebhook, body).issues).toBeUndefined();
    const test = JSON.parse(buildWebhookBody({ type: 'test', notification }, content)) as unknown;
    expect(v.safeParse(TestWebhook, test).issues).toBeUndefined();
  });

  it('names the delays of the retries', () => {
    const units: Readonly<Record<string, number>> = { seconds: secondMs, minutes: minuteMs, hours: hourMs };
    const delays = retryDelays.map((delay) => {
      const [count = '', unit = ''] = delay.split(' ');
      return Number(count) * (units[unit] ?? Number.NaN);
    });
    expect(delays).toEqual(retryDelaysMs);
  });
});

describe('ValidationRequestBody', () => {
  const emulator = startBeforeAll(async () => await startEmulator({ port: 0, keys: getStoreKeys() }));

  it.each([
    ['store_a', 'signed'],
    ['store_a', 'receipt'],
    ['store_a', 'download'],
    ['store_b', 'store'],
    ['store_b', 'brand'],
    ['store_c', 'both'],
    ['store_c', 'brand'],
    ['store_c', 'ticket'],
    ['processor_a', 'charge'],
    ['processor_a', 'brand'],
    ['processor_b', 'neutral'],
    ['processor_b', 'brand'],
  ])('describes the body of a client of %s (%s)', async (platform, form) => {
    const product = platform === 'store_c' ? { productId: '9NBLGGH4R315' } : {};
    const { buy } = createEmulatorClient(emulator.url);
    const { validate } = await buy<Json>({ platform, form, applicationUsername: form, ...product });
    expect(validate).toHaveProperty('transaction.type');
    expect(v.safeParse(ValidationRequestBody, validate).issues).toBeUndefined();
    expect(v.is(ValidateReceiptBody, validate)).toBe(true);
  });

  it('rejects evidence that lacks what its type requires', () => {
    const body = { id: 'premium', type: 'paid subscription', transaction: { type: 'store_a-signed', id: 'premium' } };
    expect(v.is(ValidationRequestBody, body)).toBe(false);
  });
});

import middy from '@middy/core';
import jsonBodyParser from '@middy/http-json-body-parser';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import type { Contract, ContractBody, ContractParams, ContractQuery, ContractResponse } from '../api/contract.ts';
import type { VerifiedKey } from '../apps/api-keys.ts';
import type { App } from '../apps/app.ts';
import type { EventRecorder } from '../events/event-recorder.ts';
import { clientOptions, getService } from '../foundation/container.ts';
import { ServiceError } from '../foundation/errors.ts';
import { appKey } from '../foundation/keys.ts';
import { parse } from '../foundation/parse.ts';
import type { Service } from '../foundation/service.ts';
import { secondMs } from '../foundation/time.ts';
import { applyVocabulary, isBrandPath, type Vocabulary } from '../foundation/vocabulary.ts';
import { registerWarmUp } from '../foundation/warm-up.ts';
import { type ApiCall, createApiCall, matchRoute, respondWithBody, respondWithError } from './api-call.ts';
import { type Authentication, authenticate, extractCredentials, getHeader, requireLevel } from './authenticate.ts';
import { getBaseUrl } from './base-url.ts';
import { checkBodyDepth, checkBodySize } from './body-limits.ts';
import { limitRejection } from './limit-rejection.ts';
import { countRequest, requireAllowance } from './limit-request.ts';
import { matchPath } from './match-path.ts';
import { type Reply, toReply } from './reply.ts';

/** A request with verified credentials and parsed parameters and body. */
export interface ApiRequest<C extends Contract> {
  /** The app of the verified key. Must not be read if the contract requires no key. */
  readonly app: App;
  /** The verified key. Must not be read if the contract requires no key. */
  readonly key: VerifiedKey;
  readonly params: ContractParams<C>;
  readonly query: ContractQuery<C>;
  readonly body: ContractBody<C>;
  /** URL of the service as the client calls it, without a trailing slash. */
  readonly baseUrl: string;
  /** Names of the response: brand names on the paths of released clients. */
  readonly vocabulary: Vocabulary;
  /** Returns a header of the request. The name is in lower case. */
  readonly getHeader: (name: string) => string | undefined;
  /** Recorder of the event of this request. */
  readonly recorder: EventRecorder;
}

type RequestHandler<C extends Contract> = (
  request: ApiRequest<C>,
  service: Service,
) => Promise<ContractResponse<C> | Reply<ContractResponse<C>>>;

type ApiHandler = (lambdaEvent: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

/** Clients send JSON with four content types or none. The package's types lack the option. */
const ignoreContentType: object = { disableContentTypeCheck: true };

/** Ends a call before Lambda and API Gateway do, which leaves the time to record its event and to respond. */
const timeLimit = {
  timeoutEarlyInMillis: secondMs,
  timeoutEarlyResponse: (): never => {
    throw new ServiceError('InternalError', 'The service timed out.', { status: 504 });
  },
};

/**
 * Creates the Lambda handler of a contract. It checks credentials, parameters and body, calls `handle`, writes the
 * response in the client's vocabulary or the error in the contract's error format, and records the event. Curried,
 * because a call with both arguments widens literal types, and wrong responses compile.
 */
export const createHandler =
  <const C extends Contract>(contract: C) =>
  (handle: RequestHandler<C>): ApiHandler => {
    return async (lambdaEvent, context) => {
      const service = getService();
      const call = createApiCall(service, contract, lambdaEvent);
      const run = middy<APIGatewayProxyEvent, APIGatewayProxyResult>(timeLimit)
        .onError(async ({ error }) => {
          await countRequest(service, call, { error });
          return await respondWithError(service, call, error);
        })
        .before(async () => {
          await authenticateCall(service, call);
          checkBodySize(lambdaEvent);
        })
        .use(contract.body ? [jsonBodyParser(ignoreContentType)] : [])
        .handler(async () => {
          const reply = toReply<object>((await handle(parseRequest(contract, call), service)) as object);
          const body = applyVocabulary(reply.body, chooseVocabulary(call));
          const result = await respondWithBody(service, call, { ...reply, body });
          await countRequest(service, call, { body });
          return result;
        });
      return await run(lambdaEvent, context);
    };
  };

// Compiles the calls of the table, and connects to it. No app has an empty name.
registerWarmUp(
  async () => await (await import('../foundation/rehearse-table-calls.ts')).rehearseTableCalls(clientOptions()),
  async () => await getService().table.get(appKey('')),
);

async function authenticateCall(service: Service, call: ApiCall): Promise<void> {
  const { contract, lambdaEvent } = call;
  if (contract.keyLevel === 'none') return;
  let authentication: Authentication | undefined;
  try {
    const credentials = extractCredentials(lambdaEvent);
    authentication = await authenticate(service, credentials, contract);
    requireLevel(authentication.key, contract, lambdaEvent.queryStringParameters);
  } catch (error) {
    const rejection = await limitRejection(service, error, lambdaEvent);
    // A blocked request must not cause a write, so its event is not recorded.
    if (rejection === error && authentication) identifyCall(call, authentication);
    throw rejection;
  }
  // The event of a request above the limit is not recorded, because it must not cause a write.
  await requireAllowance(service, authentication, lambdaEvent);
  identifyCall(call, authentication);
}

/** Sets the app and the key under which the event of the call is recorded. */
function identifyCall(call: ApiCall, { app, key }: Authentication): void {
  call.app = app;
  call.key = key;
  call.recorder.setKey(key);
}

function parseRequest<C extends Contract>(contract: C, call: ApiCall): ApiRequest<C> {
  const { lambdaEvent, app, key, recorder } = call;
  const match = matchPath([contract.path, ...contract.aliases], lambdaEvent.path);
  if (!match) throw new ServiceError('ResourceNotFound', 'The path is not found.');
  checkBodyDepth(lambdaEvent.body);
  if (contract.body && contract.body.type !== 'array') requireObject(lambdaEvent.body);
  const params = contract.params && parse(contract.params, match.params);
  const { applicationUsername } = match.params;
  if (applicationUsername !== undefined) recorder.setUser(applicationUsername);
  return {
    app: app as App,
    key: key as VerifiedKey,
    params: params as ContractParams<C>,
    query: (contract.query && parse(contract.query, lambdaEvent.queryStringParameters ?? {})) as ContractQuery<C>,
    body: (contract.body && parse(contract.body, lambdaEvent.body)) as ContractBody<C>,
    baseUrl: getBaseUrl(lambdaEvent, match),
    vocabulary: chooseVocabulary(call),
    getHeader: (name) => getHeader(lambdaEvent, name),
    recorder,
  };
}

/** A schema whose fields are all optional also accepts a list. */
function requireObject(body: unknown): void {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new ServiceError('InvalidPayload', 'The body must be a JSON object.');
}

/** Brand tokens on brand paths, and for requests with the secret key if the app's vocabulary is `brand`. */
function chooseVocabulary(call: ApiCall): Vocabulary {
  if (isBrandPath(matchRoute(call))) return 'brand';
  return call.contract.keyLevel === 'secret' && call.app?.vocabulary === 'brand' ? 'brand' : 'neutral';
}

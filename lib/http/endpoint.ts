import middy from '@middy/core';
import jsonBodyParser from '@middy/http-json-body-parser';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import type { Contract, ContractBody, ContractParams, ContractQuery, ContractResponse } from '../api/contract.ts';
import type { App } from '../apps/app.ts';
import { type Deps, deps } from '../deps.ts';
import type { EventRecorder } from '../events/event-recorder.ts';
import { ServiceError } from '../shared/errors.ts';
import { parse } from '../shared/parse.ts';
import { applyVocabulary, isBrandPath, type Vocabulary } from '../shared/vocabulary.ts';
import { type ApiCall, getApiCall, matchRoute, respondWithBody, respondWithError } from './api-call.ts';
import { authenticate, extractCredentials } from './authenticate.ts';
import { checkBodyDepth, checkBodySize } from './body-limits.ts';
import { matchPath } from './match-path.ts';

/** A request whose credentials, parameters and body have been checked. */
export interface ApiRequest<C extends Contract> {
  /** The application of the verified key; of a contract without a key there is none and nothing to look up. */
  readonly app: App;
  /** The key that was verified. */
  readonly apiKey: string;
  readonly params: ContractParams<C>;
  readonly query: ContractQuery<C>;
  readonly body: ContractBody<C>;
  /** Takes what the event of this request should tell. */
  readonly recorder: EventRecorder;
}

type Handler<C extends Contract> = (request: ApiRequest<C>, deps: Deps) => Promise<ContractResponse<C>>;

/** Clients send JSON under four content types and under none; the package's types leave the option out. */
const ignoreContentType: object = { disableContentTypeCheck: true };

/**
 * The Lambda handler of a contract: checks credentials, parameters and body, calls `handle`, writes its answer or its
 * error in the caller's tongue and dialect, and records the event.
 */
export const createHandler =
  <const C extends Contract>(contract: C) =>
  (handle: Handler<C>) =>
    middy<APIGatewayProxyEvent, APIGatewayProxyResult>()
      .onError(async ({ event, error }) => await respondWithError(getApiCall(contract, event), error, deps()))
      .before(async ({ event }) => {
        await authenticateCall(getApiCall(contract, event));
        checkBodySize(event);
      })
      .use(contract.body ? [jsonBodyParser(ignoreContentType)] : [])
      .handler(async (event) => {
        const call = getApiCall(contract, event);
        const response = await handle(parseRequest(contract, call), deps());
        return await respondWithBody(call, applyVocabulary(response as object, chooseVocabulary(call)), deps());
      });

async function authenticateCall(call: ApiCall): Promise<void> {
  const { keyLevel } = call.contract;
  if (keyLevel === 'none') return;
  const { appCache, now } = deps();
  call.app = await authenticate(extractCredentials(call.event), keyLevel, { findApp: appCache.find, now: now() });
}

function parseRequest<C extends Contract>(contract: C, { event, app, recorder }: ApiCall): ApiRequest<C> {
  const match = matchPath([contract.path, ...contract.aliases], event.path);
  if (!match) throw new ServiceError('ResourceNotFound', 'There is no such path.');
  checkBodyDepth(event.body);
  const params = contract.params && parse(contract.params, match.params);
  const { applicationUsername } = match.params;
  if (applicationUsername !== undefined) recorder.setUser(applicationUsername);
  return {
    app: app as App,
    apiKey: extractCredentials(event)?.key ?? '',
    params: params as ContractParams<C>,
    query: (contract.query && parse(contract.query, event.queryStringParameters ?? {})) as ContractQuery<C>,
    body: (contract.body && parse(contract.body, event.body)) as ContractBody<C>,
    recorder,
  };
}

/** Brand words on brand paths, and for reads with the secret key where the application is set so. */
function chooseVocabulary(call: ApiCall): Vocabulary {
  if (isBrandPath(matchRoute(call))) return 'brand';
  return call.contract.keyLevel === 'secret' && call.app?.vocabulary === 'brand' ? 'brand' : 'neutral';
}

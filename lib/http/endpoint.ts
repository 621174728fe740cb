import middy from '@middy/core';
import jsonBodyParser from '@middy/http-json-body-parser';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import type { BodyOf, Contract, ParamsOf, QueryOf, ResponseOf } from '../api/contract.ts';
import type { App } from '../apps/app.ts';
import { type Deps, deps } from '../deps.ts';
import { ServiceError } from '../errors.ts';
import type { Recorder } from '../events/recorder.ts';
import { parse } from '../parse.ts';
import { authenticate, credentialsOf } from './authenticate.ts';
import { checkBodySize, checkDepth } from './body-limits.ts';
import { answerCall, answerError, type Call, callOf, routeOf } from './call.ts';
import { matchPath } from './path.ts';
import { inTongue, isBrandPath, type Tongue } from './vocabulary.ts';

/** A request whose credentials, parameters and body have been checked. */
export interface Request<C extends Contract> {
  /** The application of the verified key; of a contract without a key there is none and nothing to look up. */
  readonly app: App;
  /** The key that was verified. */
  readonly apiKey: string;
  readonly params: ParamsOf<C>;
  readonly query: QueryOf<C>;
  readonly body: BodyOf<C>;
  /** Takes what the event of this request should tell. */
  readonly event: Recorder;
}

type Handle<C extends Contract> = (request: Request<C>, deps: Deps) => Promise<ResponseOf<C>>;

/** Clients send JSON under four content types and under none; the package's types leave the option out. */
const whateverTheHeader: object = { disableContentTypeCheck: true };

/**
 * The Lambda handler of a contract: checks credentials, parameters and body, calls `handle`, writes its answer or its
 * error in the caller's tongue and dialect, and records the event.
 */
export const endpoint =
  <const C extends Contract>(contract: C) =>
  (handle: Handle<C>) =>
    middy<APIGatewayProxyEvent, APIGatewayProxyResult>()
      .onError(async ({ event, error }) => await answerError(callOf(contract, event), error, deps()))
      .before(async ({ event }) => {
        await openApp(callOf(contract, event));
        checkBodySize(event);
      })
      .use(contract.body ? [jsonBodyParser(whateverTheHeader)] : [])
      .handler(async (event) => {
        const call = callOf(contract, event);
        const answer = await handle(requestOf(contract, call), deps());
        return await answerCall(call, inTongue(answer as object, tongueOf(call)), deps());
      });

async function openApp(call: Call): Promise<void> {
  const { key } = call.contract;
  if (key === 'none') return;
  const { cachedApps, now } = deps();
  call.app = await authenticate(credentialsOf(call.event), key, { find: cachedApps.find, now: now() });
}

function requestOf<C extends Contract>(contract: C, { event, app, recorder }: Call): Request<C> {
  const match = matchPath([contract.path, ...contract.aliases], event.path);
  if (!match) throw new ServiceError('ResourceNotFound', 'There is no such path.');
  checkDepth(event.body);
  const params = contract.params && parse(contract.params, match.params);
  const { applicationUsername } = match.params;
  if (applicationUsername !== undefined) recorder.user(applicationUsername);
  return {
    app: app as App,
    apiKey: credentialsOf(event)?.key ?? '',
    params: params as ParamsOf<C>,
    query: (contract.query && parse(contract.query, event.queryStringParameters ?? {})) as QueryOf<C>,
    body: (contract.body && parse(contract.body, event.body)) as BodyOf<C>,
    event: recorder,
  };
}

/** Brand words on brand paths, and for reads with the secret key where the application is set so. */
function tongueOf(call: Call): Tongue {
  if (isBrandPath(routeOf(call))) return 'brand';
  return call.contract.key === 'secret' && call.app?.vocabulary === 'brand' ? 'brand' : 'neutral';
}

import * as v from 'valibot';
import { currentTime, moveClock } from './control-clock.ts';
import { addOrder, clearOrders, listNotifications, notifyAt, release } from './control-notifications.ts';
import { act, buy, pay, show } from './control-purchases.ts';
import { type Emulator, storeOf } from './emulator.ts';
import { Fault } from './faults.ts';
import type { Call } from './http-messages.ts';
import { shown } from './journal.ts';
import { parsedBody } from './parsed-body.ts';
import { refusal } from './refusal.ts';

/** Answers one call of the control API; `parameters` are the decoded `*` of its path. */
type Respond = (emulator: Emulator, call: Call, parameters: readonly string[]) => object;

const routes: Readonly<Record<string, Readonly<Record<string, Respond>>>> = {
  '/control': { GET: overview },
  '/control/clock': { GET: currentTime, POST: moveClock },
  '/control/faults': { POST: addFault, DELETE: clearFaults },
  '/control/checkouts/*/pay': { POST: pay },
  '/control/notifications': { GET: listNotifications, POST: addOrder, DELETE: clearOrders },
  '/control/notifications/release': { POST: release },
  '/control/notifications/*': { PUT: notifyAt },
  '/control/purchases': { POST: buy },
  '/control/purchases/*': { GET: show },
  '/control/purchases/*/*': { POST: act },
  '/control/settings/*': { GET: (emulator, _call, [platform = '']) => storeOf(emulator, platform).settings },
};

/** What the control API answers; throws a refusal for what it cannot do. */
export function controlAnswer(emulator: Emulator, call: Call): object {
  const segments = call.path.split('/').slice(1).map(decodeURIComponent);
  for (const [template, methods] of Object.entries(routes)) {
    const parameters = parametersOf(template.split('/').slice(1), segments);
    if (parameters === undefined) continue;
    const respond = methods[call.method];
    if (respond === undefined) throw refusal(405, `${call.method} is not for ${template}; ${Object.keys(methods)} is.`);
    return respond(emulator, call, parameters);
  }
  throw refusal(404, `The control API has no ${call.path}, only ${Object.keys(routes).join(', ')}.`);
}

function parametersOf(template: readonly string[], segments: readonly string[]): string[] | undefined {
  const fits = template.length === segments.length && template.every((part, i) => part === '*' || part === segments[i]);
  return fits ? segments.filter((_segment, i) => template[i] === '*') : undefined;
}

function overview({ stores, faults, journal, clock }: Emulator): object {
  const platforms = stores.map((store) => [
    store.platform,
    {
      products: store.products(),
      purchases: store.purchases(),
      actions: Object.keys(store.actions),
      faults: faults.of(store.platform),
    },
  ]);
  return {
    now: new Date(clock.now()).toISOString(),
    platforms: Object.fromEntries(platforms),
    notifications: journal.latest().map(shown),
  };
}

const FaultOrder = v.strictObject({ platform: v.string(), ...Fault.entries });

function addFault(emulator: Emulator, call: Call): object {
  const { platform, ...fault } = parsedBody(FaultOrder, call);
  const store = storeOf(emulator, platform, 400);
  emulator.faults.add(store.platform, fault);
  return { platform: store.platform, faults: emulator.faults.of(store.platform) };
}

function clearFaults({ faults }: Emulator): object {
  faults.clear();
  return {};
}

import * as v from 'valibot';
import { formatTime } from './calendar.ts';
import { changeAccount } from './control-accounts.ts';
import { getClock, moveClock } from './control-clock.ts';
import { controlError } from './control-error.ts';
import {
  addDeliveryRule,
  clearDeliveryRules,
  listNotifications,
  releaseNotifications,
  setNotificationUrl,
} from './control-notifications.ts';
import { applyAction, createPurchase, listPurchases, payCheckoutSession, showPurchase } from './control-purchases.ts';
import { createTestPurchase } from './control-test-purchases.ts';
import { type Emulator, getStore } from './emulator.ts';
import { Fault } from './faults.ts';
import type { HttpRequest } from './http-messages.ts';
import { toLogView } from './notification-log.ts';
import { parseBody } from './parse-body.ts';
import { toRefundRequestView } from './refund-request.ts';

/** Handler of a control API call. `parameters` are the decoded path segments that match `*`. */
type ControlHandler = (emulator: Emulator, call: HttpRequest, parameters: readonly string[]) => object;

const routes: Readonly<Record<string, Readonly<Record<string, ControlHandler>>>> = {
  '/control': { GET: getOverview },
  '/control/accounts/*': { PUT: changeAccount },
  '/control/clock': { GET: getClock, POST: moveClock },
  '/control/faults': { POST: addFault, DELETE: clearFaults },
  '/control/checkouts/*/pay': { POST: payCheckoutSession },
  '/control/notifications': { GET: listNotifications, POST: addDeliveryRule, DELETE: clearDeliveryRules },
  '/control/notifications/release': { POST: releaseNotifications },
  '/control/notifications/*': { PUT: setNotificationUrl },
  '/control/orders/*': { PUT: setOrdersReadable },
  '/control/purchases': { GET: listPurchases, POST: createPurchase },
  '/control/purchases/*': { GET: showPurchase },
  '/control/purchases/*/*': { POST: applyAction },
  '/control/refund-requests': { GET: listRefundRequests },
  '/control/test-purchases': { POST: createTestPurchase },
  '/control/settings/*': { GET: (emulator, _call, [platform = '']) => getStore(emulator, platform).settings },
};

/** Handles a call of the control API. Throws `ControlError` if the call cannot be executed. */
export function handleControlCall(emulator: Emulator, call: HttpRequest): object {
  const segments = call.path.split('/').slice(1).map(decodeURIComponent);
  for (const [template, methods] of Object.entries(routes)) {
    const parameters = matchParameters(template.split('/').slice(1), segments);
    if (parameters === undefined) continue;
    const handler = methods[call.method];
    if (handler === undefined)
      throw controlError(405, `${template} does not support ${call.method}. Supported: ${Object.keys(methods)}.`);
    return handler(emulator, call, parameters);
  }
  throw controlError(404, `The control API does not have ${call.path}. Available: ${Object.keys(routes).join(', ')}.`);
}

function matchParameters(template: readonly string[], segments: readonly string[]): string[] | undefined {
  const matches =
    template.length === segments.length && template.every((part, i) => part === '*' || part === segments[i]);
  return matches ? segments.filter((_segment, i) => template[i] === '*') : undefined;
}

function getOverview({ stores, faults, accountProblems, notificationLog, clock }: Emulator): object {
  const platforms = stores.map((store) => [
    store.platform,
    {
      products: store.products(),
      purchases: store.purchases(),
      actions: Object.keys(store.actions),
      faults: faults.list(store.platform),
      accountProblem: accountProblems.get(store.platform) ?? null,
      accountSettings: store.accountSettings?.current() ?? {},
    },
  ]);
  return {
    now: formatTime(clock.now()),
    platforms: Object.fromEntries(platforms),
    notifications: notificationLog.list().map(toLogView),
  };
}

const AddFaultBody = v.strictObject({ platform: v.string(), ...Fault.entries });

function addFault(emulator: Emulator, call: HttpRequest): object {
  const { platform, ...fault } = parseBody(AddFaultBody, call);
  const store = getStore(emulator, platform, 400);
  emulator.faults.add(store.platform, fault);
  return { platform: store.platform, faults: emulator.faults.list(store.platform) };
}

const OrdersBody = v.strictObject({ readable: v.boolean() });

/** `PUT /control/orders/{platform}`: sets whether the API returns orders. */
function setOrdersReadable(emulator: Emulator, call: HttpRequest, [name = '']: readonly string[]): object {
  const { platform, setOrdersReadable: set } = getStore(emulator, name);
  if (set === undefined) throw controlError(422, `${platform} does not have orders.`);
  const { readable } = parseBody(OrdersBody, call);
  set(readable);
  return { platform, readable };
}

/** `GET /control/refund-requests`: returns the refund requests with the replies that the stores received. */
function listRefundRequests({ stores, clock }: Emulator): object {
  const refundRequests = stores.flatMap(({ platform, refundRequests: list = () => [] }) =>
    list().map((request) => ({ platform, ...toRefundRequestView(request) })),
  );
  return { now: formatTime(clock.now()), refundRequests };
}

function clearFaults({ faults }: Emulator): object {
  faults.clear();
  return {};
}

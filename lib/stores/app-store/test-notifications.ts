import { measureStep, type NotificationRoute, type RouteProblem, type RouteRequest } from '../notification-route.ts';
import type { StoreContext } from '../store-context.ts';
import type { Environment } from './payloads.ts';
import { isDelivered, requestTestNotification, type TestResult } from './request-test-notification.ts';
import { parseStoredSettings } from './settings.ts';

const environments: readonly Environment[] = ['Production', 'Sandbox'];

/** Requests a test notification of production and of the sandbox. */
export async function testNotifications(request: RouteRequest, context: StoreContext): Promise<NotificationRoute> {
  const settings = parseStoredSettings(context.settings);
  const tests = await Promise.all(
    environments.map(async (environment) => {
      const { step, result } = await measureStep(`test notification of ${names[environment]}`, async () => {
        const test = await requestTestNotification(settings, context, { environment, waitMs: request.waitMs });
        return { test, outcome: describe(test) };
      });
      return { step, environment, test: result.test };
    }),
  );
  return {
    steps: tests.map(({ step }) => step),
    problems: [...listMissingUrls(tests, request), ...tests.flatMap((test) => listFailures(test, request))],
    numDelivered: tests.filter(({ test }) => isDelivered(test)).length,
  };
}

const names: Readonly<Record<Environment, string>> = { Production: 'production', Sandbox: 'the sandbox' };

interface EnvironmentTest {
  readonly environment: Environment;
  readonly test: TestResult;
}

function describe(test: TestResult): string {
  switch (test.kind) {
    case 'attempted':
      return test.result;
    case 'urlMissing':
      return 'no notification URL';
    case 'unauthorized':
      return 'the API key is rejected';
    case 'noKey':
      return 'not possible without an API key';
    case 'pending':
      return 'requested, not attempted in time';
  }
}

/** An app without a URL for the sandbox lacks notifications of its testers only, so both are one problem. */
function listMissingUrls(tests: readonly EnvironmentTest[], { url }: RouteRequest): RouteProblem[] {
  const missing = tests.filter(({ test }) => test.kind === 'urlMissing').map(({ environment }) => names[environment]);
  if (missing.length === 0) return [];
  return [
    {
      code: 'url-missing',
      problem: `App Store Connect lacks the notification URL of ${missing.join(' and of ')}.`,
      cure: `Enter ${url} in App Store Connect, App Information, App Store Server Notifications, version 2.`,
    },
  ];
}

function listFailures({ environment, test }: EnvironmentTest, { url }: RouteRequest): RouteProblem[] {
  if (test.kind !== 'attempted' || isDelivered(test)) return [];
  return [
    {
      code: 'test-failed',
      problem: `The App Store failed to deliver a test notification of ${names[environment]}: ${test.result}.`,
      cure: `Check that the URL in App Store Connect is ${url}, and that it is reachable from the internet with TLS 1.2.`,
    },
  ];
}

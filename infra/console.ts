import type { Construct } from 'constructs';
import { consoleRoute } from './console-route.ts';
import type { SharedResources } from './permissions.ts';
import { ServiceFunction } from './service-function.ts';

/** Creates the function that serves the console. It may only write its log. */
export const createConsoleFunction = (
  scope: Construct,
  { hasAliases }: Pick<SharedResources, 'hasAliases'>,
): ServiceFunction =>
  new ServiceFunction(scope, consoleRoute.id, {
    bundle: `console/${consoleRoute.id}`,
    description: consoleRoute.summary,
    timeoutSeconds: 10,
    memoryMb: 512,
    hasVersion: hasAliases,
  });

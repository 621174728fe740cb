import { Construct } from 'constructs';
import type { StoreEmulatorConfig } from './permissions.ts';
import { ServiceFunction } from './service-function.ts';

/** Paths of the console and of the API document. They are no contracts: their responses are files of the build. */
export const consoleRoute = {
  id: 'get-console',
  summary: 'Get the web console, its assets or the API document',
  paths: ['/console', '/console/:proxy+', '/openapi.json'],
  methods: ['GET'],
} as const;

interface ConsoleProps {
  readonly emulator?: StoreEmulatorConfig;
  readonly hasAliases: boolean;
}

/** The function that serves the console. It has no permission except to write its log. */
export class Console extends Construct {
  readonly serviceFunction: ServiceFunction;

  constructor(scope: Construct, id: string, { emulator, hasAliases }: ConsoleProps) {
    super(scope, id);
    this.serviceFunction = new ServiceFunction(this, consoleRoute.id, {
      bundle: `console/${consoleRoute.id}`,
      description: consoleRoute.summary,
      timeoutSeconds: 10,
      memoryMb: 512,
      environment: emulator ? { STORE_EMULATOR_URL: emulator.url } : {},
      hasAlias: hasAliases,
    });
  }
}

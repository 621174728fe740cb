import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { type Hook, hooks } from '../lib/api/notifications.ts';
import { environmentOf, grant, type Need, type Resources } from './access.ts';
import { HouseFunction } from './house-function.ts';

const needs: readonly Need[] = ['stores', 'notifications'];

/** One function for each store that sends notifications, all of the same file: an alarm names the store that it is about. */
export class Hooks extends Construct {
  /** By hook id. */
  readonly functions: ReadonlyMap<string, LambdaFunction>;

  constructor(scope: Construct, id: string, resources: Resources) {
    super(scope, id);
    this.functions = new Map(hooks.map((hook) => [hook.id, this.receiver(hook, resources)]));
  }

  private receiver({ id, summary }: Hook, resources: Resources): LambdaFunction {
    const { handler } = new HouseFunction(this, id, {
      handler: 'notifications/receive.handler',
      description: summary,
      timeoutSeconds: 10,
      memoryMb: 1024,
      environment: environmentOf(needs, resources),
    });
    grant(handler, needs, resources);
    return handler;
  }
}

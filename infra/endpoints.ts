import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { Contract } from '../lib/api/contract.ts';
import { environmentOf, grant, type Resources } from './access.ts';
import { HouseFunction } from './house-function.ts';

/** One function a contract, with the permissions that the contract needs and no others. */
export class Endpoints extends Construct {
  /** By contract id. */
  readonly functions: ReadonlyMap<string, LambdaFunction>;

  constructor(scope: Construct, id: string, props: Resources & { readonly contracts: readonly Contract[] }) {
    super(scope, id);
    this.functions = new Map(props.contracts.map((contract) => [contract.id, this.endpoint(contract, props)]));
  }

  private endpoint({ id, area, summary, needs, key }: Contract, resources: Resources): LambdaFunction {
    const asksStores = needs.includes('stores');
    const { handler } = new HouseFunction(this, id, {
      handler: `${area}/${id}.handler`,
      description: summary,
      // API Gateway waits 29 s; adapters end well before.
      timeoutSeconds: asksStores ? 29 : 10,
      memoryMb: asksStores ? 1024 : 512,
      environment: environmentOf(needs, resources),
    });
    if (key !== 'none') grant(handler, needs, resources);
    return handler;
  }
}

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

  private endpoint(contract: Contract, resources: Resources): LambdaFunction {
    const { id, area, summary, needs, key } = contract;
    const { handler } = new HouseFunction(this, id, {
      handler: `${area}/${id}.handler`,
      description: summary,
      ...sizeOf(contract),
      environment: environmentOf(needs, resources),
    });
    if (key !== 'none') grant(handler, needs, resources);
    return handler;
  }
}

/** API Gateway waits 29 s; adapters end well before. With 1,769 MB a function has one processor, with less a part of one. */
function sizeOf({ needs, isHeavy }: Contract): { readonly timeoutSeconds: number; readonly memoryMb: number } {
  if (isHeavy) return { timeoutSeconds: 29, memoryMb: 1769 };
  return needs.includes('stores') ? { timeoutSeconds: 29, memoryMb: 1024 } : { timeoutSeconds: 10, memoryMb: 512 };
}

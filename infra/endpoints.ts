import { Construct } from 'constructs';
import type { Contract } from '../lib/api/contract.ts';
import { buildEnvironment, grantPermissions, type SharedResources } from './permissions.ts';
import { ServiceFunction } from './service-function.ts';

/** One function for each contract, with least-privilege permissions. */
export class Endpoints extends Construct {
  /** Functions by contract id. */
  readonly functions: ReadonlyMap<string, ServiceFunction>;

  constructor(scope: Construct, id: string, props: SharedResources & { readonly contracts: readonly Contract[] }) {
    super(scope, id);
    this.functions = new Map(props.contracts.map((contract) => [contract.id, this.createFunction(contract, props)]));
  }

  private createFunction(contract: Contract, resources: SharedResources): ServiceFunction {
    const { id, area, summary, permissions, keyLevel } = contract;
    const serviceFunction = new ServiceFunction(this, id, {
      bundle: `${area}/${id}`,
      description: summary,
      ...chooseSize(contract),
      environment: buildEnvironment(permissions, resources),
      hasAlias: resources.hasAliases,
    });
    if (keyLevel !== 'none') grantPermissions(serviceFunction.handler, [...permissions, 'rejections'], resources);
    return serviceFunction;
  }
}

/**
 * API Gateway times out after 29 s; adapters have a shorter request budget. A function has one vCPU at 1,769 MB. A
 * validation mostly waits for the store: more memory costs more and saves a tenth of the time (`npm run bench cost`).
 * @see https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
 */
function chooseSize({ permissions, isLongRunning }: Contract): {
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
} {
  if (isLongRunning) return { timeoutSeconds: 29, memoryMb: 1769 };
  return permissions.includes('stores') ? { timeoutSeconds: 29, memoryMb: 768 } : { timeoutSeconds: 10, memoryMb: 512 };
}

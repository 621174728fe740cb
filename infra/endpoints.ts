import type { Construct } from 'constructs';
import type { Contract } from '../lib/api/contract.ts';
import { ApiFunctions } from './api-functions.ts';
import { buildEnvironment, grantPermissions, type SharedResources } from './permissions.ts';
import { ServiceFunction } from './service-function.ts';
import { settingsWrites } from './settings-writes.ts';
import { listItemKeys } from './written-keys.ts';

/**
 * Creates a nested stack for each area, with one function for each contract and least-privilege permissions. The area
 * alone decides the stack, so a new endpoint moves no other function: a function that moves is replaced and loses its
 * log.
 */
export function createEndpointStacks(
  scope: Construct,
  contracts: readonly Contract[],
  resources: SharedResources,
): ApiFunctions[] {
  const areas = [...new Set(contracts.map(({ area }) => area))];
  return areas.map((area) => {
    const ownContracts = contracts.filter((contract) => contract.area === area);
    return new ApiFunctions(scope, `${capitalize(area)}Endpoints`, `endpoints of the area ${area}`, (stack) =>
      ownContracts.map((contract) => createEndpointFunction(stack, contract, resources)),
    );
  });
}

const capitalize = (area: string): string => `${area.charAt(0).toUpperCase()}${area.slice(1)}`;

function createEndpointFunction(scope: Construct, contract: Contract, resources: SharedResources): ServiceFunction {
  const { id, area, summary, permissions, keyLevel } = contract;
  const serviceFunction = new ServiceFunction(scope, id, {
    bundle: `${area}/${id}`,
    description: summary,
    ...chooseSize(contract),
    environment: buildEnvironment(permissions, resources),
    hasVersion: resources.hasAliases,
  });
  const allowedWrites = settingsWrites[id];
  const limits = { writtenKeys: listItemKeys(contract), ...(allowedWrites && { allowedWrites }) };
  const { handler } = serviceFunction;
  if (keyLevel !== 'none') grantPermissions(handler, [...permissions, 'rejections'], { ...resources, ...limits });
  // Reads only: without a key, no event is recorded.
  else if (permissions.length > 0)
    grantPermissions(handler, permissions, { ...resources, ...limits, recordsEvents: false });
  return serviceFunction;
}

/**
 * API Gateway times out after 29 s; adapters have a shorter request budget. A function has one vCPU at 1,769 MB. A
 * validation mostly waits for the store: 768 MB would cost a third more and save a tenth of the time
 * (`npm run bench cost`).
 * @see https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
 */
function chooseSize({ permissions, isLongRunning }: Contract): {
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
} {
  if (isLongRunning) return { timeoutSeconds: 29, memoryMb: 1769 };
  return { timeoutSeconds: permissions.includes('stores') ? 29 : 10, memoryMb: 512 };
}

import * as v from 'valibot';
import { EntitlementName, Id, Username } from '../../../lib/api/schemas.ts';
import { AccessFact, explainAccess } from '../../../lib/entitlements/contract.ts';
import { defineTool, limitRows, OmittedRows } from '../tool.ts';

const { because: _because, ...explanation } = explainAccess.response.entries;

export const whyAccess = defineTool({
  name: 'why_access',
  title: 'Explain access',
  description:
    'Explains why a customer has access to an entitlement or a product, or not, with the facts that decide it and the ' +
    'next change. Without entitlement and productId, it explains all entitlements of the customer.',
  input: v.object({
    applicationUsername: Username,
    entitlement: v.exactOptional(EntitlementName),
    productId: v.exactOptional(Id),
  }),
  output: v.object({ ...explanation, rows: v.array(AccessFact), omittedRows: OmittedRows }),
  async read({ applicationUsername, ...query }, api) {
    const { because, ...rest } = await api.read(explainAccess, { params: { applicationUsername }, query });
    return { ...rest, ...limitRows(because) };
  },
});

import type { GrantRecord } from '../../../lib/entitlements/contract.ts';
import { callApi } from '../../api/client.ts';
import { ConfirmButton } from '../../components/dialog.tsx';
import { Row } from '../../components/layout.tsx';
import { Badge, DateTime } from '../../components/values.tsx';
import { useCanSupport } from '../../session.ts';
import { entitlementEndpoints } from './entitlement-endpoints.ts';
import { ExtendButton } from './grant-dialogs.tsx';

interface GrantsProps {
  readonly user: string;
  readonly grants: readonly GrantRecord[];
  readonly onChange: () => void;
}

/** The grants of a customer: who made each one, when and why. A support key extends and revokes them. */
export function Grants({ user, grants, onChange }: GrantsProps) {
  const canSupport = useCanSupport();
  if (grants.length === 0) return null;
  return (
    <>
      <h3>Grants</h3>
      <ul class="claims">
        {grants.map((grant) => (
          <li key={grant.grantId}>
            <span>
              <strong>{grant.entitlement}</strong>{' '}
              <Badge tone={grant.isActive ? 'good' : 'neutral'}>{describeState(grant)}</Badge>{' '}
              {grant.until !== null && (
                <>
                  until <DateTime value={grant.until} />
                </>
              )}
            </span>
            <span class="quiet">
              {grant.reason}. By {grant.createdBy.name}, <DateTime value={grant.createdAt} kind="date" />
            </span>
            {canSupport && grant.isActive && (
              <Row>
                <ExtendButton user={user} grant={grant} onDone={onChange} />
                <ConfirmButton
                  label="Revoke"
                  kind="danger"
                  question={`Revoke the grant of ${grant.entitlement}?`}
                  consequence={`${user} loses the access of this grant now. A revoked grant cannot be extended.`}
                  done="The grant is revoked."
                  onConfirm={async () => {
                    const params = { applicationUsername: user, grantId: grant.grantId };
                    await callApi(entitlementEndpoints.revokeGrant, { params });
                    onChange();
                  }}
                />
              </Row>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

function describeState({ isActive, revokedAt, movedAt }: GrantRecord): string {
  if (isActive) return 'Active';
  if (movedAt !== undefined) return 'Moved to another customer';
  return revokedAt === undefined ? 'Ended' : 'Revoked';
}

import { useState } from 'preact/hooks';
import type { answerRefundRequest, RefundRequestRecord } from '../../lib/refunds/contract.ts';
import { callApi, defineEndpoint } from '../api/client.ts';
import { ConfirmButton } from '../components/dialog.tsx';
import { CheckboxField } from '../components/fields.tsx';
import { Row } from '../components/layout.tsx';
import { formatPlatform, formatUsd, isStore } from '../format.ts';

const answerEndpoint = defineEndpoint<typeof answerRefundRequest>('POST', '/v3/refund-requests/:id/answer');

export const preferenceLabels = { approve: 'Approve', decline: 'Decline', neutral: 'No preference' } as const;
type Preference = keyof typeof preferenceLabels;

interface StatementProps {
  readonly request: RefundRequestRecord;
  readonly onDone: () => void;
}

/** A button for each statement about a refund, with a confirmation. */
export const StatementButtons = (props: StatementProps) => (
  <Row>
    {(['decline', 'approve', 'neutral'] as const).map((preference) => (
      <StatementButton key={preference} preference={preference} {...props} />
    ))}
  </Row>
);

/**
 * Asks for the consent of the customer where the store requires it and none is stored. Otherwise the service sends what
 * is stored.
 */
function StatementButton({ request, preference, onDone }: StatementProps & { readonly preference: Preference }) {
  const [hasConsented, setConsented] = useState(false);
  const label = preferenceLabels[preference];
  const isRequired = isStore(request.platform, 'store_a');
  const isStored = request.preparedAnswer?.customerConsented === true;
  const isAsked = isRequired && !isStored;
  return (
    <ConfirmButton
      label={label}
      question={`${label}: send the statement to ${formatPlatform(request.platform)}?`}
      consequence={
        <>
          <p>
            {describeConsequence(request, preference)}
            {isRequired && isStored && ' The customer has consented.'}
          </p>
          {isAsked && (
            <>
              <p>The App Store requires the consent of the customer to the statement.</p>
              <CheckboxField label="The customer has consented" isChecked={hasConsented} onChange={setConsented} />
            </>
          )}
        </>
      }
      done="The statement is sent."
      onConfirm={async () => {
        const body = { preference, ...(isAsked && { customerConsented: hasConsented }) };
        await callApi(answerEndpoint, { params: { id: request.id }, body });
        onDone();
      }}
    />
  );
}

/** Names the customer and the sums, and what the user confirms. */
function describeConsequence({ applicationUsername, facts }: RefundRequestRecord, preference: Preference): string {
  const customer = applicationUsername ?? 'an unknown customer';
  const effect =
    preference === 'approve' ? 'The store then refunds the payment as a rule' : 'The store decides with this statement';
  return `The payment of ${customer}, who has paid ${formatUsd(facts.paidUSD)} in total. ${effect}. It cannot be changed.`;
}

import { useState } from 'preact/hooks';
import type { ContractResponse } from '../../../lib/api/contract.ts';
import type { getApp } from '../../../lib/apps/contract.ts';
import { callApi } from '../../api/client.ts';
import { useAction } from '../../api/use-api.ts';
import { announceResult } from '../../components/announcer.tsx';
import { Button } from '../../components/button.tsx';
import { Form, SelectField, TextField } from '../../components/fields.tsx';
import { Row, Section } from '../../components/layout.tsx';
import { ErrorNotice } from '../../components/notice.tsx';
import { useCanChange } from '../../session.ts';
import { settingsEndpoints } from './settings-endpoints.ts';

type App = ContractResponse<typeof getApp>;

const strategies = [
  ['all', 'All claimants own it'],
  ['first', 'The first claimant owns it'],
  ['last', 'The last claimant owns it'],
  ['last-if-inactive', 'The last claimant while the owner has no access'],
] as const;

/** Decides between several claims on a purchase, and the access while a store is unavailable. */
export function AccessSection({ app, onSaved }: { readonly app: App; readonly onSaved: () => void }) {
  const canChange = useCanChange();
  const [strategy, setStrategy] = useState(app.strategy);
  const [hours, setHours] = useState(String(app.unverifiedHours));
  const { run, isRunning, error } = useAction(async () => {
    await callApi(settingsEndpoints.changeApp, { body: { strategy, unverifiedHours: Number(hours) } });
    announceResult('The settings are saved.');
    onSaved();
  });
  return (
    <Section title="Access" description="Existing purchases follow a new strategy at their next update.">
      <Form label="Access" onSubmit={run}>
        <Row>
          <SelectField
            label="Several claims on a purchase"
            value={strategy}
            options={strategies}
            onChange={setStrategy}
          />
          <TextField
            label="Hours of access if a renewal cannot be verified"
            type="number"
            value={hours}
            onInput={setHours}
            isRequired
          />
          {canChange && (
            <Button type="submit" isBusy={isRunning}>
              Save
            </Button>
          )}
        </Row>
        <ErrorNotice error={error} />
      </Form>
    </Section>
  );
}

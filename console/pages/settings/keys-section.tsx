import { useState } from 'preact/hooks';
import type { ContractResponse } from '../../../lib/api/contract.ts';
import type { listKeys } from '../../../lib/apps/api-key-contract.ts';
import { callApi } from '../../api/client.ts';
import { useAction, useApi } from '../../api/use-api.ts';
import { Button } from '../../components/button.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { ConfirmButton } from '../../components/dialog.tsx';
import { Form, SelectField, TextField } from '../../components/fields.tsx';
import { Row, Section } from '../../components/layout.tsx';
import { EmptyState, ErrorNotice } from '../../components/notice.tsx';
import { DateTime } from '../../components/values.tsx';
import { useCanChange } from '../../session.ts';
import { SecretNotice } from './secret-notice.tsx';
import { settingsEndpoints } from './settings-endpoints.ts';

type KeyRow = ContractResponse<typeof listKeys>['rows'][number];

const levels = [
  ['viewer', 'Viewer: reads everything'],
  ['support', 'Support: reads, grants, links and replays'],
  ['secret', 'Secret: everything'],
  ['public', 'Public: validates and sells'],
] as const;

const validities = [
  ['', 'No end'],
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', 'A year'],
] as const;

/** The API keys of the app, with their creation and revocation. */
export function KeysSection() {
  const canChange = useCanChange();
  const { data, error, reload } = useApi(settingsEndpoints.listKeys, {});
  const [created, setCreated] = useState<string | undefined>();
  return (
    <Section title="API keys" description="Events contain the name of the key that made a request.">
      {canChange && (
        <CreateKeyForm
          onCreated={(key) => {
            setCreated(key);
            reload();
          }}
        />
      )}
      {created !== undefined && <SecretNotice secret={created} label="key" />}
      <DataTable
        isOfRecords
        caption="API keys"
        columns={canChange ? [...columns, buildRevokeColumn(reload)] : columns}
        rows={data?.rows}
        getKey={({ id }) => id}
        error={error}
        onRetry={reload}
        empty={<EmptyState title="The app has no keys." />}
        placeholderRows={2}
      />
    </Section>
  );
}

function CreateKeyForm({ onCreated }: { readonly onCreated: (key: string) => void }) {
  const [name, setName] = useState('');
  const [level, setLevel] = useState<(typeof levels)[number][0]>('viewer');
  const [days, setDays] = useState<(typeof validities)[number][0]>('90');
  const { run, isRunning, error } = useAction(async () => {
    const validity = days === '' ? {} : { validDays: Number(days) };
    const { key } = await callApi(settingsEndpoints.createKey, { body: { name: name.trim(), level, ...validity } });
    setName('');
    onCreated(key);
  });
  return (
    <Form label="Create a key" onSubmit={run}>
      <Row>
        <TextField label="Name" value={name} onInput={setName} placeholder="alice-support" isRequired />
        <SelectField label="Level" value={level} options={levels} onChange={setLevel} />
        <SelectField label="Valid for" value={days} options={validities} onChange={setDays} />
        <Button type="submit" isBusy={isRunning}>
          Create a key
        </Button>
      </Row>
      <ErrorNotice error={error} />
    </Form>
  );
}

const columns: readonly Column<KeyRow>[] = [
  { title: 'Name', render: ({ name }) => name },
  { title: 'Level', render: ({ level }) => level },
  { title: 'Id', render: ({ id }) => <span class="mono">{id}</span> },
  { title: 'Created', render: ({ createdAt }) => <DateTime value={createdAt} kind="day" /> },
  { title: 'Valid until', render: ({ expiresAt }) => <DateTime value={expiresAt} kind="day" /> },
];

const buildRevokeColumn = (onRevoked: () => void): Column<KeyRow> => ({
  title: 'Action',
  render: ({ id, name, level }) => (
    <ConfirmButton
      label="Revoke"
      kind="danger"
      question={`Revoke the ${level} key ${name}?`}
      consequence="Requests with this key are rejected within 15 seconds. This cannot be undone."
      done={`The key ${name} is revoked.`}
      onConfirm={async () => {
        await callApi(settingsEndpoints.revokeKey, { params: { keyId: id } });
        onRevoked();
      }}
    />
  ),
});

import { Notice } from '../../components/notice.tsx';
import { CopyId } from '../../components/values.tsx';

/** Shows a new secret. It is in the memory of the page only, and not shown again. */
export const SecretNotice = ({ secret, label }: { readonly secret: string; readonly label: string }) => (
  <Notice tone="good" icon="check">
    Store the {label} now. It is not shown again.{' '}
    <CopyId value={secret} label={label}>
      {secret}
    </CopyId>
  </Notice>
);

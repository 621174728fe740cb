import { Notice } from '../components/notice.tsx';

/** Names the rows that a list leaves out, because their items are not readable. */
export const UnreadableNotice = ({ ids = [] }: { readonly ids: readonly string[] | undefined }) =>
  ids.length > 0 ? (
    <Notice tone="warn" icon="alert">
      This list lacks {ids.join(', ')}: the stored data is not readable. The query <code>latest-errors</code> of the log
      shows the reason.
    </Notice>
  ) : null;

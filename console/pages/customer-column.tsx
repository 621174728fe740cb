import type { Column } from '../components/data-table.tsx';
import { None } from '../components/values.tsx';
import { Link } from '../router.tsx';

export const CustomerLink = ({ user }: { readonly user: string }) => (
  <Link to="/customers/:user" params={{ user }}>
    {user}
  </Link>
);

/** Builds the column of the customer of a row, who can be missing. */
export const buildCustomerColumn = <Row,>(findUser: (row: Row) => string | null | undefined): Column<Row> => ({
  title: 'Customer',
  render(row) {
    const user = findUser(row) ?? undefined;
    return user === undefined ? <None /> : <CustomerLink user={user} />;
  },
  csv: (row) => findUser(row) ?? undefined,
});

import { Button } from '../../components/button.tsx';
import { Row } from '../../components/layout.tsx';
import { changeQuery } from '../../router.tsx';

interface MeasureChoiceProps {
  readonly measures: readonly { readonly id: string; readonly label: string }[];
  readonly selected: string;
}

/** The measures of a heat map. The choice is in the link. */
export const MeasureChoice = ({ measures, selected }: MeasureChoiceProps) => (
  <Row>
    {measures.map(({ id, label }) => (
      <Button key={id} isPressed={id === selected} onClick={() => changeQuery({ measure: id })}>
        {label}
      </Button>
    ))}
  </Row>
);

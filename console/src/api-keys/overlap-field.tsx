// How long the old key or secret of a rotation stays valid.
import { Input, SegmentedControl } from '@mantine/core'
import type { Choice } from './lifetimes.ts'

interface Props {
  description: string
  choices: Choice[]
  value: string
  onChange: (value: string) => void
}

export function OverlapField({ description, choices, value, onChange }: Props) {
  return (
    <Input.Wrapper label="Overlap" description={description} labelElement="div" id="overlap">
      <SegmentedControl
        fullWidth
        mt={6}
        aria-label="Overlap"
        data={choices.map((choice) => ({ value: choice.value, label: choice.label }))}
        value={value}
        onChange={onChange}
      />
    </Input.Wrapper>
  )
}

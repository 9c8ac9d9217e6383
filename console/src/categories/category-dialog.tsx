// Renames a category. An administrator also chooses its drawing, which pets without a photo show.
import './categories.css'
import { Button, Radio, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { Category } from '@petstore/client'
import { CATEGORY_NAME } from '@petstore/client/rules'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Dialog, DialogFoot } from '../layout/dialog.tsx'
import { ErrorMessage } from '../layout/error-message.tsx'
import { useNotify } from '../layout/notify.tsx'
import { DRAWING_LABELS, PetDrawing, type Shown } from '../pets/drawings.tsx'
import { KEYS } from '../session/query-keys.ts'
import { useScopes, useStore } from '../session/session.ts'

interface Props {
  category: Category
  onClose: () => void
}

interface Values {
  name: string
  drawing: Shown
}

export function CategoryDialog({ category, onClose }: Props) {
  const store = useStore()
  const cache = useQueryClient()
  const notify = useNotify()
  const canChoose = useScopes().has('admin')
  const form = useForm<Values>({
    initialValues: { name: category.name ?? '', drawing: category.picture ?? 'paw' },
    validate: { name: (name) => (name.trim() === '' ? 'Enter a name.' : null) },
  })
  const save = useMutation({
    mutationFn: ({ name, drawing }: Values) =>
      store.categories.put(category.id, {
        name: name.trim(),
        ...(canChoose && { picture: drawing === 'paw' ? null : drawing }),
      }),
    onSuccess: async ({ name = '' }) => {
      await cache.invalidateQueries({ queryKey: KEYS.categories })
      notify.done(`Saved ${name}.`)
      onClose()
    },
  })
  return (
    <Dialog
      title={`Edit ${category.name ?? `category ${category.id}`}`}
      focusId={`edit-category-${category.id}`}
      onClose={onClose}
      isForm
    >
      <form onSubmit={form.onSubmit((values) => save.mutate(values))} noValidate>
        <Stack>
          <TextInput
            label="Name"
            withAsterisk
            data-autofocus
            maxLength={CATEGORY_NAME.name.maxLength}
            {...form.getInputProps('name')}
          />
          {canChoose && (
            <DrawingField
              value={form.values.drawing}
              onChange={(drawing) => form.setFieldValue('drawing', drawing)}
            />
          )}
          {save.error && <ErrorMessage error={save.error} />}
          <DialogFoot>
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={save.isPending}>
              Save
            </Button>
          </DialogFoot>
        </Stack>
      </form>
    </Dialog>
  )
}

function DrawingField({ value, onChange }: { value: Shown; onChange: (drawing: Shown) => void }) {
  const all = Object.keys(DRAWING_LABELS) as Shown[]
  return (
    <Radio.Group
      label="Picture"
      description="Pets without a photo show it."
      value={value}
      onChange={onChange}
    >
      <div className="drawings">
        {all.map((drawing) => (
          <Radio.Card key={drawing} value={drawing} aria-label={DRAWING_LABELS[drawing]}>
            <PetDrawing shown={drawing} size={30} />
            {DRAWING_LABELS[drawing]}
          </Radio.Card>
        ))}
      </div>
    </Radio.Group>
  )
}

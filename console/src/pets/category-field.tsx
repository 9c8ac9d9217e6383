// Chooses the category of a pet, or adds a category with a new name.
import { Button, Group, TextInput } from '@mantine/core'
import { CATEGORY_NAME } from '@petstore/client/rules'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { describeError } from '../layout/describe-error.ts'
import { KEYS } from '../session/query-keys.ts'
import { useStore } from '../session/session.ts'
import { addCategory } from './add-category.ts'
import { CategorySelect } from './category-select.tsx'
import { categoriesQuery } from './queries.ts'

interface Props {
  value?: string
  error?: React.ReactNode
  onChange?: (categoryId: string) => void
}

export function CategoryField({ value, error, onChange }: Props) {
  const [isNew, setNew] = useState(false)
  const [name, setName] = useState('')
  const store = useStore()
  const cache = useQueryClient()
  const add = useMutation({
    mutationFn: () =>
      addCategory(store, name.trim(), () => cache.fetchQuery({ ...categoriesQuery(store), staleTime: 0 })),
    onSuccess: async (id) => {
      await cache.invalidateQueries({ queryKey: KEYS.categories })
      setNew(false)
      onChange?.(id)
    },
  })
  if (!isNew) {
    return (
      <Group className="wide-on-phone" align="flex-start" wrap="nowrap" gap="xs">
        <CategorySelect
          label="Category"
          withAsterisk
          data-autofocus
          placeholder="Choose one"
          flex={1}
          value={value === undefined || value === '' ? null : value}
          error={error}
          onChange={(id) => onChange?.(id ?? '')}
        />
        <Button variant="default" mt={27} onClick={() => setNew(true)}>
          New
        </Button>
      </Group>
    )
  }
  return (
    <Group className="whole-row" align="flex-start" wrap="nowrap" gap="xs">
      <TextInput
        label="New category"
        placeholder="Dogs"
        flex={1}
        data-autofocus
        maxLength={CATEGORY_NAME.name.maxLength}
        value={name}
        error={add.error && describeError(add.error).text}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Button mt={27} loading={add.isPending} disabled={name.trim() === ''} onClick={() => add.mutate()}>
        Add
      </Button>
      <Button mt={27} variant="default" onClick={() => setNew(false)}>
        Back
      </Button>
    </Group>
  )
}

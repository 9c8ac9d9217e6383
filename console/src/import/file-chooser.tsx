// Takes a file that a person drops or chooses.
import { Button, type ButtonProps, Text } from '@mantine/core'
import { type DragEvent, useRef, useState } from 'react'

interface Props {
  onChoose: (file: File) => void
}

export function FileChooser({ onChoose }: Props) {
  const [isOver, setOver] = useState(false)

  function drag(event: DragEvent, over: boolean): void {
    // Without it, the browser would open the file instead of this page.
    event.preventDefault()
    setOver(over)
  }

  function drop(event: DragEvent): void {
    drag(event, false)
    const [file] = event.dataTransfer.files
    if (file !== undefined) onChoose(file)
  }

  return (
    <div
      className="file-drop"
      data-over={isOver || undefined}
      onDragOver={(event) => drag(event, true)}
      onDragLeave={(event) => drag(event, false)}
      onDrop={drop}
    >
      <Text>Drop a CSV file here, or</Text>
      <FileButton onChoose={onChoose}>Choose a file</FileButton>
    </div>
  )
}

/** Lets the person choose a file of the computer. */
export function FileButton({ onChoose, ...button }: Props & ButtonProps) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <Button {...button} onClick={() => input.current?.click()} />
      <input
        ref={input}
        type="file"
        accept=".csv,text/csv"
        aria-label="CSV file"
        hidden
        onChange={({ currentTarget }) => {
          const [file] = currentTarget.files ?? []
          // The same file can be chosen again, for example after it was changed.
          currentTarget.value = ''
          if (file !== undefined) onChoose(file)
        }}
      />
    </>
  )
}

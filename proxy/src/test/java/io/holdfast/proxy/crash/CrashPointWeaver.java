package io.holdfast.proxy.crash;

import java.lang.instrument.ClassFileTransformer;
import java.security.ProtectionDomain;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/** Puts a call of {@link CrashPointAgent#reached} at a {@link Place}. */
final class CrashPointWeaver implements ClassFileTransformer {
    private static final String AGENT = Type.getInternalName(CrashPointAgent.class);

    private final Place place;
    private final boolean isArming;
    private int woven;

    /**
     * Weaves one place.
     *
     * @param isArming handed on to the call
     */
    CrashPointWeaver(Place place, boolean isArming) {
        this.place = place;
        this.isArming = isArming;
    }

    @Override
    public byte[] transform(
            ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] classFile) {
        return place.internalClassName().equals(name) ? weave(classFile) : null;
    }

    /** The class with the calls in it. */
    byte[] weave(byte[] classFile) {
        ClassReader reader = new ClassReader(classFile);
        // No branch is added, so the frames stay as they are.
        ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
        reader.accept(new MethodsOfThatName(writer), 0);
        return writer.toByteArray();
    }

    /** In how many places the calls were put. */
    int woven() {
        return woven;
    }

    private final class MethodsOfThatName extends ClassVisitor {
        MethodsOfThatName(ClassVisitor next) {
            super(Opcodes.ASM9, next);
        }

        @Override
        public MethodVisitor visitMethod(
                int access, String name, String descriptor, String signature, String[] exceptions) {
            MethodVisitor next = super.visitMethod(access, name, descriptor, signature, exceptions);
            boolean isWanted = name.equals(place.method()) && (access & Opcodes.ACC_ABSTRACT) == 0;
            int firstArgument = (access & Opcodes.ACC_STATIC) != 0 ? 0 : 1;
            return isWanted ? new Calls(next, firstArgument) : next;
        }
    }

    private final class Calls extends MethodVisitor {
        private final int firstArgument;

        Calls(MethodVisitor next, int firstArgument) {
            super(Opcodes.ASM9, next);
            this.firstArgument = firstArgument;
        }

        @Override
        public void visitCode() {
            super.visitCode();
            callAt(Place.Position.ENTRY);
        }

        @Override
        public void visitInsn(int opcode) {
            if (opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN) {
                callAt(Place.Position.EXIT);
            }
            super.visitInsn(opcode);
        }

        @Override
        public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
            boolean isWanted = name.equals(place.called());
            if (isWanted) {
                callAt(Place.Position.BEFORE_CALL);
            }
            super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
            if (isWanted) {
                callAt(Place.Position.AFTER_CALL);
            }
        }

        private void callAt(Place.Position position) {
            if (position == place.position()) {
                woven++;
                super.visitInsn(isArming ? Opcodes.ICONST_1 : Opcodes.ICONST_0);
                if (place.argument() == Place.ANY) {
                    super.visitInsn(Opcodes.ICONST_0);
                } else {
                    super.visitVarInsn(Opcodes.ILOAD, firstArgument);
                }
                super.visitMethodInsn(Opcodes.INVOKESTATIC, AGENT, "reached", "(ZI)V", false);
            }
        }
    }
}

package sqlstream.flink;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.catalog.DataTypeFactory;
import org.apache.flink.table.catalog.UnresolvedIdentifier;
import org.apache.flink.table.functions.FunctionDefinition;
import org.apache.flink.table.functions.SpecializedFunction;
import org.apache.flink.table.functions.UserDefinedFunction;
import org.apache.flink.table.functions.UserDefinedFunctionHelper;
import org.apache.flink.table.types.AbstractDataType;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.UnresolvedDataType;
import org.apache.flink.table.types.extraction.DataTypeExtractor;
import org.apache.flink.table.types.inference.CallContext;
import org.apache.flink.table.types.inference.TypeInferenceUtil;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.utils.LogicalTypeParser;
import org.apache.flink.table.types.utils.TypeConversions;

/** What a function takes and gives, as Flink finds it out. */
final class Inference {
    private Inference() {}

    /** A call: {@code literals} has the values of constant arguments, null for others. */
    record Call(
            DataTypeFactory factory,
            FunctionDefinition definition,
            String name,
            List<DataType> arguments,
            List<Object> literals)
            implements CallContext {
        @Override
        public DataTypeFactory getDataTypeFactory() {
            return factory;
        }

        @Override
        public FunctionDefinition getFunctionDefinition() {
            return definition;
        }

        @Override
        public boolean isArgumentLiteral(int position) {
            return literals.get(position) != null;
        }

        @Override
        public boolean isArgumentNull(int position) {
            return arguments
                    .get(position)
                    .getLogicalType()
                    .is(org.apache.flink.table.types.logical.LogicalTypeRoot.NULL);
        }

        @Override
        public <T> Optional<T> getArgumentValue(int position, Class<T> type) {
            Object value = literals.get(position);
            return type.isInstance(value) ? Optional.of(type.cast(value)) : Optional.empty();
        }

        @Override
        public String getName() {
            return name;
        }

        @Override
        public List<DataType> getArgumentDataTypes() {
            return arguments;
        }

        @Override
        public Optional<DataType> getOutputDataType() {
            return Optional.empty();
        }

        @Override
        public boolean isGroupedAggregation() {
            return true;
        }
    }

    /** The call of {@code definition} with arguments of {@code types}, as SQL writes them. */
    static Call call(
            ClassLoader loader, FunctionDefinition definition, String name, List<String> types, List<Object> literals) {
        DataTypeFactory factory = new Types(loader);
        List<DataType> arguments = new ArrayList<>();
        for (String type : types) {
            arguments.add(factory.createDataType(type));
        }
        return new Call(factory, definition, name, arguments, literals);
    }

    /** A new instance of the class {@code name} of {@code loader}. */
    static UserDefinedFunction instance(ClassLoader loader, String name) {
        Class<?> type;
        try {
            type = Class.forName(name, true, loader);
        } catch (ClassNotFoundException e) {
            throw new ValidationException("There is no class '" + name + "' in the jars of the function.", e);
        }
        if (!UserDefinedFunction.class.isAssignableFrom(type)) {
            throw new ValidationException("The class '" + name + "' is no function of Flink's.");
        }
        UserDefinedFunction made = UserDefinedFunctionHelper.instantiateFunction(type);
        UserDefinedFunctionHelper.prepareInstance(new Configuration(), made);
        return made;
    }

    /** The one that is called: some are made for a call. */
    static UserDefinedFunction specialized(UserDefinedFunction function, Call call) {
        return function instanceof SpecializedFunction
                ? UserDefinedFunctionHelper.createSpecializedFunction(
                        call.name(), function, call, call.factory().getClassLoader(), new Configuration(), null)
                : function;
    }

    /** The types of its arguments, its result and its accumulator. Raises ValidationException. */
    static TypeInferenceUtil.Result of(Call call) {
        return TypeInferenceUtil.runTypeInference(call.definition().getTypeInference(call.factory()), call, null);
    }

    /** Types by their names, by classes, and as hints have them. */
    private static final class Types implements DataTypeFactory {
        private final ClassLoader loader;

        Types(ClassLoader loader) {
            this.loader = loader;
        }

        @Override
        public ClassLoader getClassLoader() {
            return loader;
        }

        @Override
        public DataType createDataType(AbstractDataType<?> type) {
            return type instanceof DataType known ? known : ((UnresolvedDataType) type).toDataType(this);
        }

        @Override
        public DataType createDataType(String type) {
            return TypeConversions.fromLogicalToDataType(createLogicalType(type));
        }

        @Override
        public <T> DataType createDataType(Class<T> type) {
            return DataTypeExtractor.extractFromType(this, type);
        }

        @Override
        public LogicalType createLogicalType(String type) {
            return LogicalTypeParser.parse(type, loader);
        }

        @Override
        public DataType createDataType(UnresolvedIdentifier name) {
            throw new ValidationException("A type of a catalog, " + name + ", is not known.");
        }

        @Override
        public LogicalType createLogicalType(UnresolvedIdentifier name) {
            throw new ValidationException("A type of a catalog, " + name + ", is not known.");
        }

        @Override
        public <T> DataType createDataType(TypeInformation<T> type) {
            throw new ValidationException("A type of Flink's old type system, " + type + ", is not known.");
        }

        @Override
        public <T> DataType createRawDataType(Class<T> type) {
            throw new ValidationException("Values of " + type.getName() + " can't be kept: SQL has no type for them.");
        }

        @Override
        public <T> DataType createRawDataType(TypeInformation<T> type) {
            return createRawDataType(type.getTypeClass());
        }
    }
}
